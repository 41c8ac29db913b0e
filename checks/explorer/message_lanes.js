"use strict";
const SVG = "http://www.w3.org/2000/svg", LEFT = 240, GAP = 240, ROW = 34, TOP = 44, CHIP = 24;
function shape(tag, given, text, whole) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(given)) e.setAttribute(k, v);
  if (text !== undefined) e.append(text);
  if (whole) e.append(shape("title", {}, whole));
  return e;
}
function cut(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}
/* A picture of lanes, with time going down: what each step calls, and the way of each message. */
function messageLanes(flights, names, show) {
  const at = new Map(flights.lanes.map((name, n) => [name, LEFT + GAP / 2 + n * GAP]));
  const y = (step) => TOP + (step < flights.first ? 0 : (step - flights.first + 1) * ROW);
  const now = y(flights.first + flights.rows.length - 1) + ROW;
  const flying = flights.messages.filter((m) => m.ended === null);
  const chips = chipPlaces(flying, at);
  const deepest = Math.max(0, ...chips.map((c) => c.row + 1));
  const width = LEFT + GAP * flights.lanes.length + GAP / 2, height = now + 26 + deepest * (CHIP + 6) + 10;
  const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "flights" });
  for (const [name, x] of at) {
    svg.append(shape("line", { x1: x, x2: x, y1: TOP - 14, y2: now, class: "life" }));
    svg.append(shape("text", { x, y: TOP - 22, class: "head" }, cut(name, 26), name));
  }
  svg.append(shape("line", { x1: 8, x2: width - 8, y1: now, y2: now, class: "now" }));
  svg.append(shape("text", { x: 8, y: now + 18 }, flying.length ? "in flight now" : "nothing in flight"));
  for (const row of flights.rows) {
    const called = names[row.step - 1];
    svg.append(shape("text", { x: 8, y: y(row.step) + 4 }, cut(`${row.step}. ${called}`, 31), called));
    const xs = row.lanes.map((lane) => at.get(lane));
    if (xs.length) svg.append(shape("line", {
      x1: LEFT, x2: Math.max(...xs), y1: y(row.step), y2: y(row.step), class: "call" }));
    for (const x of xs) svg.append(shape("circle", { cx: x, cy: y(row.step), r: 5, class: "act" }));
  }
  for (const m of flights.messages.filter((m) => m.ended !== null)) svg.append(arrived(m, at, y, show));
  for (const c of chips) svg.append(inFlight(c, at, y, now, show));
  return svg;
}
/* The chips below the line of the present: beside the lane that sent, below each other. */
function chipPlaces(flying, at) {
  const filled = new Map();
  return flying.map((message) => {
    const x = (at.has(message.from) ? at.get(message.from) : LEFT - GAP / 2) + 8;
    const row = filled.get(x) || 0;
    filled.set(x, row + 1);
    return { message, x, row };
  });
}
function told(m, show) {
  return `${m.channel}: ${show(m.item)}`;
}
function arrived(m, at, y, show) {
  const g = shape("g", { class: m.to === null ? "gone" : "way" });
  const from = at.has(m.from) ? at.get(m.from) : LEFT, start = y(m.sent), end = y(m.ended);
  const to = at.has(m.to) ? at.get(m.to) : from + 60;
  const bend = from === to ? 70 : 0, middle = (from + to) / 2;
  g.append(shape("path", { d: `M${from} ${start} C${from + bend} ${start} ${to + bend} ${end} ${to} ${end}`, class: "line" }));
  g.append(head(to, end, m.to === null ? null : to + bend - from >= 0 && from !== to ? 1 : -1));
  const own = from === to, x = own ? from + bend * 0.75 + 6 : middle, cls = own ? "said own" : "said";
  g.append(shape("text", { x, y: (start + end) / 2 + (own ? 4 : -4), class: cls }, cut(show(m.item), 28), told(m, show)));
  return g;
}
/* The end of an arrow; a cross where no part received the message. */
function head(x, y, side) {
  const d = side === null ? `M${x - 5} ${y - 5} l10 10 m0 -10 l-10 10` : `M${x - 6 * side} ${y} l${-9 * side} -5 v10 z`;
  return shape("path", { d, class: side === null ? "cross" : "tip" });
}
function inFlight(c, at, y, now, show) {
  const m = c.message, g = shape("g", { class: "flying" });
  const from = at.has(m.from) ? at.get(m.from) : LEFT, top = now + 24 + c.row * (CHIP + 6);
  const aside = c.x + 8 + (c.row % 5) * 4;
  g.append(shape("path", { d: `M${from} ${y(m.sent)} C${aside} ${y(m.sent) + ROW} ${aside} ${now} ${aside} ${top}`, class: "line" }));
  g.append(shape("rect", { x: c.x, y: top, width: GAP - 14, height: CHIP, rx: 4 }));
  g.append(shape("text", { x: c.x + 6, y: top + 16 }, cut(told(m, show), 31), told(m, show)));
  return g;
}
