"""`lawful certify`: files with which somebody else can count the states and repeat the proofs.

    DIR/NAME.certificate.json := {"version": 1, "machine", "fingerprint", "given": [scope],
                                  "any_size": [sort], "scope", "states"?, "proofs"?}
    states := {"engine", "complete", "distinct", "generated", "depth", "cuts", "sha256",
               "verdicts": {property: verdict}}
    proofs := {"second", "properties": {name: {"verdict", "method", "covers"}},
               "scripts": [{"file", "sha256", "property", "obligation", "answer"}]}

`sha256` of the states is described in `checks.certificate.state_sets`. With `--verify` the
reference engine counts the states anew, the scripts are made anew from the declaration and
compared with the files, and the second solver is asked about each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lawful import targets
from lawful.checks.certificate.certificate_fields import is_well_formed
from lawful.checks.certificate.proof_scripts import ProofScript, ProofScripts
from lawful.checks.certificate.second_solvers import NoSolver, SecondSolver, second_solver
from lawful.checks.certificate.state_sets import StateSet, state_set
from lawful.checks.explore import Limits
from lawful.checks.explore.check import Engine
from lawful.progress import Tell, progress
from lawful.runtime.instance import Machine
from lawful.spec.ir import Json
from lawful.spec.lower import sized
from lawful.spec.verdicts import PROVED
from lawful.targets import ScopedMachine

from . import files
from .errors import CommandError
from .exit_codes import ExitCode, gravest
from .options import CertifyOptions, ProveOptions
from .output import Output
from .prove import machine_of, proved, sizes_of, workers

VERSION = 1  # Of the certificate.
Certificate = dict[str, Any]
PROVED_TEXT = frozenset(verdict.value for verdict in PROVED)


def certify(options: CertifyOptions, output: Output) -> int:
    """Write the certificates of the target's machines, or verify those that a folder has."""
    machines = output.machines(options.target)
    work = [_work(cls, options, output.quiet) for cls in machines]
    said = zip(machines, (lines for _, lines, _ in work), strict=True)
    text = [line for cls, rows in said for line in (cls.__name__, *(f"  {row}" for row in rows))]
    output.answer("\n".join(text), [row for row, _, _ in work])
    return gravest(code for _, _, code in work)


Work = tuple[Json, list[str], ExitCode]


def _work(cls: type[Machine], options: CertifyOptions, quiet: bool) -> Work:
    """The row of the answer about one machine, its lines of text, and its exit code."""
    with progress(f"certifying {cls.__name__}", quiet) as tell:
        try:
            return (_verified if options.verify else _written)(cls, options, tell)
        except (NoSolver, ValueError) as error:
            raise CommandError(str(error)) from error


def _written(cls: type[Machine], options: CertifyOptions, tell: Tell) -> Work:
    """Explore and prove a machine, and write its certificate."""
    machine = targets.scoped(cls, options.scope)
    made: Certificate = {
        "version": VERSION,
        "machine": cls.__name__,
        "fingerprint": machine.fingerprint,
        "given": list(options.scope),
        "any_size": list(options.any_size),
        "scope": dict(machine.flat.scope),
    }
    scripts: list[ProofScript] = []
    missed: list[str] = []
    if "states" in options.parts:
        tell("exploring")
        found = _explored(machine, options, "auto")
        made["states"], missed = _states(found), _missed(found)
    if "proofs" in options.parts:
        tell("proving")
        made["proofs"], scripts = _proofs(cls, options, tell)
    files.folder(options.out)
    for script in scripts:
        files.save(options.out / script.name, script.text)
    path = _path(options.out, cls)
    files.save(path, files.json_text(made))
    return made, [str(path), *_said(made), *missed], _code(missed, _whole(made))


def _code(wrong: Sequence[str], whole: bool) -> ExitCode:
    found = ExitCode.AS_EXPECTED if whole else ExitCode.UNKNOWN
    return ExitCode.VIOLATED if wrong else found


def _path(folder: Path, cls: type[Machine]) -> Path:
    return folder / f"{cls.__name__}.certificate.json"


def _explored(machine: ScopedMachine, options: CertifyOptions, engine: Engine) -> StateSet:
    limits = Limits(seconds=options.max_seconds)
    return state_set(machine.flat, machine.world, machine.expects, engine, limits)


def _states(found: StateSet) -> Certificate:
    counts = ("engine", "complete", "distinct", "generated", "depth", "cuts")
    return {
        **{name: getattr(found, name) for name in counts},
        "sha256": found.digest,
        "verdicts": {p.name: p.verdict.value for p in found.properties},
    }


def _missed(found: StateSet) -> list[str]:
    """The properties whose verdict is a surprise: for them `check` ends with 1, and so do we."""
    missed = (p for p in found.properties if not p.as_expected and not p.verdict.open)
    return [f"not as expected  {p.name}: {p.verdict.value}" for p in missed]


def _proofs(
    cls: type[Machine], options: CertifyOptions, tell: Tell
) -> tuple[Certificate, list[ProofScript]]:
    asked = _as_prove(options)
    result = proved(cls, asked, tell)
    properties: dict[str, Certificate] = {
        p.name: {"verdict": p.verdict.value, "method": p.method, "covers": p.covers}
        for p in result.properties
        if p.method != "none"
    }
    scripts = _texts(_scripts(cls, asked, _by_induction(properties)))
    solver = None if options.no_second_solver else _solver(options)
    proofs: Certificate = {
        "second": None if solver is None else solver.name,
        "properties": properties,
        "scripts": [_script(each, solver, tell) for each in scripts],
    }
    return proofs, scripts


def _as_prove(options: CertifyOptions) -> ProveOptions:
    return ProveOptions(scope=options.scope, any_size=options.any_size, solver=options.solver)


def _by_induction(properties: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
    """The properties whose proof is one step of induction: of others there is no script."""
    return frozenset(
        name
        for name, row in properties.items()
        if row["verdict"] in PROVED_TEXT and row["method"] == "induction"
    )


def _scripts(cls: type[Machine], asked: ProveOptions, names: frozenset[str]) -> ProofScripts:
    """The scripts on which the proofs of these properties rest."""
    lowered = sized(machine_of(cls, asked), sizes_of(cls, asked))
    return ProofScripts(lowered, asked.solver.effort, workers(), names)


def _texts(made: ProofScripts) -> list[ProofScript]:
    return [*made.of(made.due), *made.of_timers()] if made.due else []


def _solver(options: CertifyOptions) -> SecondSolver:
    return second_solver(options.second_solver, options.second_seconds)


def _script(script: ProofScript, solver: SecondSolver | None, tell: Tell) -> Certificate:
    tell(f"asking the second solver about {script.name}")
    return {
        "file": script.name,
        "sha256": _hash(script.text),
        "property": script.property,
        "obligation": script.obligation,
        "answer": None if solver is None else solver.answer(script.text),
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _said(made: Certificate) -> Iterator[str]:
    """What the certificate says, in lines."""
    states = made.get("states")
    if states is not None:
        whole = "" if states["complete"] else ", not all: a limit was met"
        yield (
            f"states    {states['distinct']:,} distinct, depth {states['depth']} "
            f"({states['engine']}){whole}; sha256 {states['sha256'][:16]}"
        )
    proofs = made.get("proofs")
    if proofs is not None:
        good = [n for n, row in proofs["properties"].items() if row["verdict"] in PROVED_TEXT]
        yield f"proofs    {len(good)} of {len(proofs['properties'])} properties proved"
        yield from (f"  open    {name}: {row['verdict']}" for name, row in _open(proofs))
        yield from (f"  no script  {name}: by {how}" for name, how in _without_script(proofs))
        yield f"scripts   {len(proofs['scripts'])}{_answers(proofs)}"


def _open(proofs: Certificate) -> Iterator[tuple[str, Certificate]]:
    for name, row in proofs["properties"].items():
        if row["verdict"] not in PROVED_TEXT:
            yield name, row


def _without_script(proofs: Certificate) -> Iterator[tuple[str, str]]:
    """The proved properties whose proof is no induction over one step."""
    for name, row in proofs["properties"].items():
        if row["verdict"] in PROVED_TEXT and row["method"] != "induction":
            yield name, row["method"]


def _answers(proofs: Certificate) -> str:
    if proofs["second"] is None:
        return "; no second solver was asked"
    answers = [row["answer"] for row in proofs["scripts"]]
    counts = ", ".join(f"{answers.count(each)} {each}" for each in sorted(set(answers)))
    return f"; {proofs['second']}: {counts or 'nothing to ask'}"


def _whole(made: Certificate) -> bool:
    """Whether everything was explored, and the second solver confirmed each script."""
    states, proofs = made.get("states"), made.get("proofs")
    explored = states is None or states["complete"]
    rows: list[Certificate] = [] if proofs is None else proofs["scripts"]
    return explored and all(row["answer"] in ("unsat", None) for row in rows)


# Verification.


def _verified(cls: type[Machine], options: CertifyOptions, tell: Tell) -> Work:
    """Repeat what the certificate of a machine says; the lines name what is otherwise."""
    kept = _read(_path(options.out, cls))
    machine = targets.scoped(cls, kept["given"])
    lines: list[str] = []
    unsure: list[str] = []
    missed: list[str] = []
    unsure += [f"the certificate has no {part}" for part in options.parts if part not in kept]
    if kept["fingerprint"] != machine.fingerprint:
        lines.append(f"is of another declaration: {kept['fingerprint']}, now {machine.fingerprint}")
        return {"machine": cls.__name__, "differences": list(lines)}, lines, ExitCode.VIOLATED
    if "states" in kept:
        tell("counting the states with the reference engine")
        again = _explored(machine, options, "reference")
        missed = _missed(again)
        if again.complete:
            lines += _differences(kept["states"], _states(again))
        else:
            unsure.append("the reference engine did not visit all states: a limit was met")
    if "proofs" in kept:
        wrong, open = _proofs_repeated(cls, kept, options, tell)
        lines += wrong
        unsure += open
    row: Json = {"machine": cls.__name__, "differences": [*lines], "open": [*unsure]}
    text = [*lines, *unsure] or [*_said(kept), "all of it was found again"]
    return row, [*text, *missed], _code([*lines, *missed], not unsure)


def _read(path: Path) -> Certificate:
    """Raises CommandError where there is no certificate."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    found = cast(Certificate, data).get("version") if isinstance(data, dict) else None
    if found != VERSION:
        raise CommandError(f"{path} is no certificate of version {VERSION}: its version is {found}")
    if not is_well_formed(data):
        raise CommandError(f"{path} is no certificate: a field is missing or has another type")
    return cast(Certificate, data)


def _differences(kept: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    for name in ("complete", "distinct", "generated", "depth", "cuts", "sha256"):
        if kept.get(name) != found[name]:
            yield f"{name}: {kept.get(name)}, counted anew {found[name]}"
    one, two = kept.get("verdicts", {}), found["verdicts"]
    for name in sorted({*one, *two}):
        if one.get(name) != two.get(name):
            yield f"{name}: {one.get(name)}, judged anew {two.get(name)}"


def _proofs_repeated(
    cls: type[Machine], kept: Certificate, options: CertifyOptions, tell: Tell
) -> tuple[list[str], list[str]]:
    """What is wrong with the scripts of a certificate, and what stays open."""
    proofs = kept["proofs"]
    asked = ProveOptions(scope=kept["given"], any_size=kept["any_size"], solver=options.solver)
    made = _scripts(cls, asked, _by_induction(proofs["properties"]))
    scripts = _texts(made)
    due = {each.name: each for each in scripts}
    given = {row["file"]: row for row in proofs["scripts"]}
    wrong = [f"{name} is missing" for name in due.keys() - given.keys()]
    judged = made.asked - proofs["properties"].keys()
    wrong += [f"{name} is a property of the machine, and not in the certificate" for name in judged]
    wrong += [f"{name} belongs to no proof" for name in given.keys() - due.keys()]
    open = [
        f"{name} is proved by {how}, which has no script" for name, how in _without_script(proofs)
    ]
    scripted = {each.property for each in scripts}
    for name in _by_induction(proofs["properties"]) - scripted:
        open.append(f"{name} is proved by induction, but nothing had to be shown for it")
    solver = _solver(options)
    for name in sorted(due.keys() & given.keys()):
        tell(f"asking {solver.name} about {name}")
        text = _text(options.out / name)
        if text != due[name].text:
            wrong.append(f"{name} is not what the declaration gives")
            continue
        answer = solver.answer(text)
        if answer == "sat":
            wrong.append(f"{name}: {solver.name} finds a counterexample")
        elif answer != "unsat":
            open.append(f"{name}: {solver.name} does not decide it")
    return sorted(wrong), open


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
