"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const live = !data.views;
let path = [], view = null, failed = "", checked = data.checked || null, busy = false;
function el(tag, text, cls) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
}
function show(v) {
  if (v === null) return "None";
  if (Array.isArray(v)) return "[" + v.map(show).join(", ") + "]";
  if (typeof v !== "object") return String(v);
  if (v.$set) return "{" + v.$set.map(show).join(", ") + "}";
  if (v.$tuple) return "(" + v.$tuple.map(show).join(", ") + ")";
  if (v.$map) return "{" + v.$map.map(([k, x]) => show(k) + ": " + show(x)).join(", ") + "}";
  if (v.$opaque) return v.$opaque + "(" + v.id + ")";
  if (v.$int) return v.$int;
  const rows = Object.entries(v).filter(([k]) => k !== "$").map(([k, x]) => k + ": " + show(x));
  return v.$ ? v.$ + "(" + rows.join(", ") + ")" : "{" + rows.join(", ") + "}";
}
function call(r) {
  const args = Object.entries(r.args || {}).map(([k, v]) => k + "=" + show(v)).join(", ");
  const name = r.transition && r.transition !== r.event ? r.event + " → " + r.transition : r.event;
  return name + "(" + args + ")";
}
async function ask(name, at) {
  if (!live) {
    const found = data.views[at.join(".")];
    return found || { error: "this file has only the states of its counterexamples" };
  }
  const answer = await fetch(name + "?path=" + at.join("."));
  return answer.json();
}
async function go(to) {
  if (busy) return;
  busy = true;
  try {
    const found = await ask("view", to);
    failed = found.error || "";
    if (!failed) { view = found; path = to; history.replaceState(null, "", "#" + to.join(".")); }
  } catch (error) { failed = "the server of this page has ended"; }
  busy = false;
  draw();
}
async function walk() {
  for (let n = 0; n < 10; n++) {
    const rows = view.starts || view.enabled.filter((r) => !r.fault && !r.cut);
    if (!rows.length) return;
    const before = path.length;
    await go([...path, rows[Math.floor(Math.random() * rows.length)].index]);
    if (path.length === before) return;
  }
}
async function download(name) {
  const found = await ask(name, path);
  failed = found.error || "";
  if (!failed) {
    const link = el("a");
    link.href = URL.createObjectURL(new Blob([found.text], { type: "text/plain" }));
    link.download = found.name;
    link.click();
  }
  draw();
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
  bar.append(button("restart", () => go([])), button("back", () => go(path.slice(0, -1)), !path.length));
  if (live) bar.append(
    button("random walk (10 events)", walk),
    button("check the whole scope", async () => { checked = await ask("check", []); draw(); }, checked),
    button("export as test", () => download("test"), !path.length),
    button("export as sequence diagram", () => download("sequence"), !path.length));
  main.append(bar);
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
  drawState(left);
  drawEvents(right);
  drawProperties(right);
  drawPath(right);
  drawChecked(left);
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
  const s = box(into, parts.size ? "The whole, with messages in flight" : "State");
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
function drawEvents(into) {
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
  const no = box(into, "Refused events"), rows = el("ul");
  for (const r of view.refused) {
    const li = el("li");
    li.append(el("b", r.transition));
    for (const b of r.because) {
      const args = Object.keys(b.args).length ? " with " + show(b.args) : "";
      li.append(el("div", b.clause + args, "soft"));
    }
    rows.append(li);
  }
  no.append(rows);
}
function drawProperties(into) {
  const s = box(into, "Properties at this point"), t = el("table");
  for (const p of view.properties) {
    const r = el("tr"), cls = p.now === "fails" ? "bad" : p.now === "not of one state" ? "soft" : "good";
    r.append(el("td", p.name), el("td", p.kind, "soft"), el("td", p.now + (p.why ? ": " + p.why : ""), cls));
    t.append(r);
  }
  s.append(t);
}
function drawPath(into) {
  const s = box(into, "Path"), list = el("ul");
  list.append(el("li"));
  list.lastChild.append(button("0. start", () => go(path.slice(0, 1))));
  view.steps.forEach((r, n) => {
    const li = el("li");
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
    r.append(el("td", p.name), el("td", p.verdict + as, cls + " short"), el("td", p.why), jump);
    t.append(r);
  }
  s.append(t);
  const c = box(into, "Coverage: how often each transition was enabled");
  c.append(table(Object.entries(checked.transitions).map(([k, v]) => [k, String(v.enabled)])));
}
function fromAddress() {
  const text = location.hash.slice(1);
  return text && /^[0-9.]+$/.test(text) ? text.split(".").map(Number) : [];
}
addEventListener("hashchange", () => { if (location.hash.slice(1) !== path.join(".")) go(fromAddress()); });
const first = fromAddress();
go(first.length ? first : []).then(() => { if (!view) go([]); });
