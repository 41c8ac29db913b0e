"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const live = !data.views;
let path = [], view = null, failed = "", checked = data.checked || null, busy = false;
/* The random walk that ends the path: its seed, its number of events. And the seed of the next. */
let walked = null, seed = 1, unfolded = false;
const HOLDS = "holds here";
function el(tag, text, cls) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
}
function show(v) {
  if (v === null) return "None";
  if (v === true) return "True";
  if (v === false) return "False";
  if (Array.isArray(v)) return "[" + v.map(show).join(", ") + "]";
  if (typeof v !== "object") return String(v);
  if (v.$set) return v.$set.length ? "{" + v.$set.map(show).join(", ") + "}" : "set()";
  if (v.$tuple) return "(" + v.$tuple.map(show).join(", ") + (v.$tuple.length === 1 ? ",)" : ")");
  if (v.$map) return "{" + v.$map.map(([k, x]) => show(k) + ": " + show(x)).join(", ") + "}";
  if (v.$opaque) return v.$opaque + "(" + v.id + ")";
  if (v.$int) return v.$int;
  const rows = Object.entries(v).filter(([k]) => k !== "$");
  if (v.$) return v.$ + "(" + rows.map(([k, x]) => k + "=" + show(x)).join(", ") + ")";
  return "{" + rows.map(([k, x]) => k + ": " + show(x)).join(", ") + "}";
}
function named(args) {
  return "(" + Object.entries(args || {}).map(([k, v]) => k + "=" + show(v)).join(", ") + ")";
}
function call(r) {
  const name = r.transition && r.transition !== r.event ? r.event + " → " + r.transition : r.event;
  return name + named(r.args);
}
async function ask(name, at, more) {
  if (live) return (await fetch(name + "?path=" + at.join(".") + (more || ""))).json();
  const found = name === "view" ? data.views[at.join(".")] : (data.exports[at.join(".")] || {})[name];
  return found || { error: "this file has only its counterexamples and witnesses" };
}
/* One thing at a time: a click while another is under way does nothing. */
async function alone(act) {
  if (busy) return;
  busy = true;
  failed = "";
  try { await act(); } catch (error) { failed = "the server of this page has ended"; }
  busy = false;
  draw();
}
async function move(to, walk) {
  const found = await ask("view", to);
  if (found.error) { failed = found.error; return; }
  view = found;
  path = to;
  walked = walk || null;
  history.replaceState(null, "", "#" + address());
}
function go(to, walk) { return alone(() => move(to, walk)); }
/* The starts to choose from; where there is one, it is chosen. `why`: what kept the page from going elsewhere. */
function begin(why) {
  return alone(async () => {
    await move([]);
    if (view && view.starts && view.starts.length === 1 && (live || data.views["0"])) await move([0]);
    if (why) failed = why;
  });
}
function walk(from, by) {
  return alone(async () => {
    const found = await ask("walk", from, "&events=10&seed=" + by);
    if (found.error) { failed = found.error; return; }
    seed = by + 1;
    await move(found.path, { seed: by, events: found.path.length - Math.max(1, from.length) });
  });
}
function check() { return alone(async () => { checked = await ask("check", []); }); }
function download(name) {
  return alone(async () => {
    const found = await ask(name, path);
    if (found.error) { failed = found.error; return; }
    const link = el("a");
    link.href = URL.createObjectURL(new Blob([found.text], { type: "text/plain" }));
    link.download = found.name;
    link.click();
  });
}
function button(text, act, off) {
  const b = el("button", text);
  b.disabled = Boolean(off);
  b.addEventListener("click", act);
  return b;
}
function box(into, title) {
  const s = el("section");
  s.append(el("h2", title));
  into.append(s);
  return s;
}
function table(rows, changed) {
  const t = el("table");
  for (const [k, v] of rows) {
    const r = el("tr", undefined, changed && changed(k) ? "changed" : "");
    r.append(el("td", k), el("td", typeof v === "string" ? v : show(v), "v"));
    t.append(r);
  }
  return t;
}
function places(state, at, out) {
  for (const [k, v] of Object.entries(state || {})) {
    if (typeof v === "string") out.add(at + k + "." + v);
    else if (v && typeof v === "object" && !Array.isArray(v)) places(v, at + k + ".", out);
  }
  return out;
}
function light(svg) {
  const now = [...places(view.state, "", new Set())];
  const plain = new Set(now);
  for (const g of svg.querySelectorAll("g.node")) {
    const name = g.querySelector("title").textContent.replace(/\[[^\]]*\]/g, "[]");
    const family = name.split("[]");
    const hit = family.length === 1 ? plain.has(name)
      : now.some((p) => p.startsWith(family[0] + ".") && p.endsWith(family[family.length - 1]));
    if (hit) g.classList.add("lit");
  }
}
function draw() {
  const main = document.getElementById("main");
  main.replaceChildren(el("h1", data.machine + " — explorer"));
  const bar = el("div", undefined, "bar");
  bar.append(button("restart", begin), button("back", () => go(path.slice(0, -1)), !path.length));
  if (live) bar.append(
    button("random walk (10 events)", () => walk(path, seed)), seedField(),
    button("check the whole scope", check, checked));
  bar.append(
    button("export as test", () => download("test"), !path.length),
    button("export as sequence diagram", () => download("sequence"), !path.length));
  main.append(bar);
  if (walked) {
    const last = path.length - 1, said = el("p", "Random walk with seed " + walked.seed + ": ", "walked");
    const from = path.slice(0, path.length - walked.events), by = walked.seed;
    said.append(walked.events ? "events " + (last - walked.events + 1) + " to " + last + ". " : "no event is possible here. ");
    if (live) said.append(button("again", () => walk(from, by)));
    main.append(said);
  }
  if (failed) main.append(el("p", failed, "bad"));
  if (!view) return;
  const cols = el("div", undefined, "cols"), left = el("div"), right = el("div");
  cols.append(left, right);
  main.append(cols);
  const picture = box(left, "Diagram");
  picture.id = "diagram";
  picture.append(document.getElementById("picture").content.cloneNode(true));
  picture.title = "click to enlarge";
  picture.addEventListener("click", () => picture.classList.toggle("large"));
  if (view.starts) return drawStarts(right), drawChecked(left);
  light(picture);
  const lit = picture.querySelector("g.lit");
  if (lit) picture.scrollTop = lit.getBoundingClientRect().top - picture.getBoundingClientRect().top - 120;
  drawState(left);
  drawEnabled(right);
  drawPath(right);
  drawProperties(right);
  drawRefused(right);
  drawChecked(left);
}
function seedField() {
  const label = el("label", "with seed "), field = el("input");
  field.type = "number";
  field.min = "0";
  field.value = String(seed);
  field.addEventListener("change", () => { seed = Math.max(0, Math.floor(Number(field.value)) || 0); });
  label.append(field);
  return label;
}
function drawStarts(into) {
  const s = box(into, "Starts");
  for (const r of view.starts) s.append(button(call(r) + "  " + show(r.state), () => go([r.index])));
  if (view.more) s.append(el("p", "There are more starts than are shown.", "soft"));
}
function drawState(into) {
  const last = view.steps.length ? view.steps[view.steps.length - 1].changed : {};
  const touched = (k) => Object.keys(last).some((p) => p === k || p.startsWith(k + ".") || p.startsWith(k + "["));
  const parts = new Set(view.lanes.map((l) => l.name.split("[")[0]));
  if (view.flights) box(into, "Messages in flight").append(messageLanes(view.flights, view.steps.map(call), show));
  const s = box(into, parts.size ? "The whole" : "State");
  s.append(table(Object.entries(view.state).filter(([k]) => !parts.has(k)), touched));
  const timers = Object.entries(view.timers);
  if (timers.length) box(into, "Timers").append(table(timers));
  if (!view.lanes.length) return;
  const lanes = el("div", undefined, "lanes");
  for (const l of view.lanes) {
    const lane = el("div", undefined, "lane");
    lane.append(el("h2", l.name), table(Object.entries(l.state), (k) => touched(l.name + "." + k)));
    lanes.append(lane);
  }
  box(into, "Parts").append(lanes);
}
function drawEnabled(into) {
  const s = box(into, "Enabled events"), list = el("ul");
  for (const r of view.enabled) {
    const li = el("li"), no = r.fault || r.cut;
    li.append(button(call(r), () => go([...path, r.index]), r.fault));
    if (no) li.append(el("span", r.fault ? " ends in a fault: " + r.fault : " leaves the scope: " + r.cut, "bad"));
    list.append(li);
  }
  s.append(list);
  if (!view.enabled.length) s.append(el("p", "none", "soft"));
  if (view.more) s.append(el("p", "Not everything is shown: there is more than fits here.", "soft"));
}
function drawRefused(into) {
  const no = box(into, "Refused events"), rows = el("ul");
  for (const r of view.refused) {
    const li = el("li");
    li.append(el("b", r.transition));
    for (const b of r.because) {
      const args = Object.keys(b.args).length ? " " + named(b.args) : "";
      li.append(el("div", b.clause + args, "soft"));
    }
    rows.append(li);
  }
  no.append(rows);
}
/* What fails stands first. Many that hold are folded: they would push away what one looks for. */
function drawProperties(into) {
  const s = box(into, "Properties at this point"), rows = view.properties;
  const holding = rows.filter((p) => p.now === HOLDS), folded = holding.length > 8;
  const failing = rows.filter((p) => p.now === "fails"), shown = rows.filter((p) => p.now !== "fails" && !(folded && p.now === HOLDS));
  s.append(propertyTable([...failing, ...shown]));
  if (!folded) return;
  const more = el("details");
  more.open = unfolded;
  more.addEventListener("toggle", () => { unfolded = more.open; });
  more.append(el("summary", holding.length + " hold here", "good"), propertyTable(holding));
  s.append(more);
}
function propertyTable(rows) {
  const t = el("table");
  for (const p of rows) {
    const r = el("tr"), cls = p.now === "fails" ? "bad" : p.now === "not of one state" ? "soft" : "good";
    r.append(el("td", p.name), el("td", p.kind, "soft short"));
    r.append(el("td", p.now + (p.why ? ": " + p.why : ""), cls + (p.why ? "" : " short")));
    t.append(r);
  }
  return t;
}
function drawPath(into) {
  const s = box(into, "Path"), list = el("ul");
  list.append(el("li"));
  list.lastChild.append(button("0. start", () => go(path.slice(0, 1))));
  view.steps.forEach((r, n) => {
    const li = el("li"), chosen = walked && n >= view.steps.length - walked.events;
    if (chosen) li.className = "chosen";
    li.append(button(n + 1 + ". " + call(r), () => go(path.slice(0, n + 2))));
    const said = Object.entries(r.changed).map(([k, v]) => k + " = " + show(v));
    if (r.output !== null) said.push("output " + show(r.output));
    li.append(el("div", said.join(", "), "soft"));
    list.append(li);
  });
  s.append(list);
}
function drawChecked(into) {
  if (!checked) return;
  const s = box(into, "Check of the scope");
  if (checked.error) return s.append(el("p", checked.error, "bad"));
  s.append(el("p", checked.summary, "soft"));
  const t = el("table");
  for (const p of checked.properties) {
    const r = el("tr"), jump = el("td", undefined, "short"), as = p.as_expected ? "" : " (not expected)";
    const cls = p.as_expected ? "good" : "bad";
    if (p.path && p.path.length) jump.append(button("go to it", () => go(p.path)));
    const round = p.loop === null ? "" : p.loop + 1 < p.path.length
      ? " Then events " + (p.loop + 1) + " to " + (p.path.length - 1) + " again and again."
      : " Then nothing more happens.";
    r.append(el("td", p.name), el("td", p.verdict + as, cls + " short"), el("td", p.why + round), jump);
    t.append(r);
  }
  s.append(t);
  const c = box(into, "Coverage: how often each transition was enabled");
  c.append(table(Object.entries(checked.transitions).map(([k, v]) => [k, String(v.enabled)])));
}
/* The path as numbers, and the random walk that ends it: `0.3.1&seed=7&events=2`. */
function address() {
  return path.join(".") + (walked ? "&seed=" + walked.seed + "&events=" + walked.events : "");
}
function goToAddress() {
  const given = location.hash.slice(1);
  const found = /^([0-9]+(?:[.][0-9]+)*)(?:&seed=([0-9]{1,9})&events=([0-9]{1,4}))?$/.exec(given);
  if (!found) return begin(given && "the address ends with " + given + ", which is no path of numbers with points between them");
  const to = found[1].split(".").map(Number);
  const by = found[2] && Number(found[3]) < to.length ? { seed: Number(found[2]), events: Number(found[3]) } : null;
  if (by) seed = by.seed;
  return go(to, by);
}
addEventListener("hashchange", () => { if (location.hash.slice(1) !== address()) goToAddress(); });
goToAddress().then(() => { if (!view) begin(failed); });
