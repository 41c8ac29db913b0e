"""Class statements and functions: `ast` -> `tree`, with the problems in them."""

from __future__ import annotations

import ast

from ..errors import Place, Problem
from . import tree
from .parse import Parser, function, parameters


def method(node: ast.FunctionDef, file: str, *, of_class: bool = True) -> tree.Method:
    """A function of a class body or module; its problems are kept with it."""
    parser = Parser(file)
    args = node.args
    params = parameters(parser, args)
    doc, body = parser.body(node.body)
    head = Place(file, node.lineno, node.col_offset, node.lineno, _end_of_name(node))
    if of_class and params[:1] != ("self",):
        parser.problems.add(
            "L104",
            head,
            f"def {node.name}({', '.join(params)})",
            "self as the first parameter",
            "write self first; what needs no machine is a function of the module",
        )
    if not of_class and "self" in params:
        parser.problems.add(
            "L104",
            head,
            f"def {node.name}({', '.join(params)})",
            "another name than self, which is the machine",
            "rename the parameter",
        )
    decorators = tuple(parser.place(each) for each in node.decorator_list)
    problems = tuple(parser.problems.found)
    unwritten = _is_unwritten(node.body)
    return tree.Method(head, node.name, params, body, doc, problems, decorators, unwritten)


def _is_unwritten(body: list[ast.stmt]) -> bool:
    """What type checkers accept, where `...` would not give the output that is annotated."""
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), last] | [last]:
            return isinstance(last, ast.Raise) and ast.unparse(last) == "raise NotImplementedError"
        case _:
            return False


def _end_of_name(node: ast.FunctionDef | ast.ClassDef) -> int:
    word = "class " if isinstance(node, ast.ClassDef) else "def "
    return node.col_offset + len(word) + len(node.name.encode())


def class_statement(node: ast.ClassDef, file: str) -> tuple[tree.Class, list[Problem]]:
    """A whole class statement, and the problems of everything but its methods' bodies."""
    parser = Parser(file)
    fields: list[tree.FieldDeclared] = []
    methods: list[tree.Method] = []
    assigned: list[tuple[str, Place]] = []
    lambdas: list[tuple[str, tree.Function]] = []
    for item in node.body:
        match item:
            case ast.AnnAssign(target=ast.Name(id=name)) if _is_constant(item):
                assigned.append((name, parser.place(item)))
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                default = None if value is None else parser.expr(value)
                fields.append(tree.FieldDeclared(parser.place(item), name, default))
            case ast.FunctionDef():
                methods.append(method(item, file))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned.append((name, parser.place(item)))
                lambdas.extend((name, given) for given in _whens(value, parser))
            case ast.ClassDef(name=name):
                assigned.append((name, parser.place(item)))
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                _refuse_item(parser, item)
    doc = ast.get_docstring(node) or ""
    head = Place(file, node.lineno, node.col_offset, node.lineno, _end_of_name(node))
    cls = tree.Class(
        head,
        node.name,
        doc,
        tuple(fields),
        tuple(methods),
        tuple(assigned),
        tuple(lambdas),
        tuple(parser.place(base) for base in node.bases),
    )
    _once(parser, cls)
    return cls, parser.problems.found


def _is_constant(item: ast.AnnAssign) -> bool:
    """Whether the annotation says that this is a constant of the class and no variable."""
    return ast.unparse(item.annotation).split("[")[0].split(".")[-1] in ("ClassVar", "Final")


def _refuse_item(parser: Parser, item: ast.stmt) -> None:
    if isinstance(item, ast.AsyncFunctionDef):
        parser.problems.add(
            "L104",
            Place(
                parser.file,
                item.lineno,
                item.col_offset,
                item.lineno,
                item.col_offset + len("async def"),
            ),
            f"async def {item.name}",
            "a plain method",
            "a body only computes: return an output, and let the caller of the event perform it",
        )
    else:
        found = ast.unparse(item).split("\n")[0][:80]
        parser.problems.add(
            "L106",
            parser.place(item),
            found,
            "fields with annotations, methods, constants, ignore, drop, Scope, Expect, Fairness",
            "compute it above the class, and name it here: LIMIT = limit()",
        )


def _once(parser: Parser, cls: tree.Class) -> None:
    """Refuse a second member of one name: Python would forget the first without a word."""
    members = [(f.name, f.place) for f in cls.fields] + [(m.name, m.place) for m in cls.methods]
    members += cls.assigned
    seen: dict[str, Place] = {}
    for name, place in sorted(members, key=lambda member: member[1].line):
        if name in seen:
            parser.problems.add(
                "L109",
                place,
                f"a second {name}",
                f"one {name}: the first is in line {seen[name].line}",
                'rename one of them; two transitions of one event: event="..."',
            )
        seen.setdefault(name, place)


def _whens(value: ast.expr, parser: Parser) -> list[tree.Function]:
    if not (isinstance(value, ast.Call) and _called(value) == "ignore"):
        return []
    given = [k.value for k in value.keywords if k.arg == "when"]
    return [function(parser, g) for g in given if isinstance(g, ast.Lambda)]


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
