"""The script of the page: draws the pictures from the data in it, zooms and answers clicks. It loads nothing."""

SCRIPT = r"""
'use strict';
const D = JSON.parse(document.getElementById('data').textContent), S = 'http://www.w3.org/2000/svg';
const $ = id => document.getElementById(id);
let from = 0, to = D.end;
function el(name, attrs, text) {
  const e = document.createElementNS(S, name);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  if (text !== undefined) e.textContent = text;
  return e;
}
function digits(v) { return String(Number(v.toPrecision(3))); }
function span(ms) {
  if (ms === 0) return '0';
  return ms >= 1000 ? digits(ms / 1000) + ' s' : ms >= 1 ? digits(ms) + ' ms' : ms >= .001 ? digits(1000 * ms) + ' \u00b5s' : digits(1e6 * ms) + ' ns';
}
function round(v) { const p = 10 ** Math.floor(Math.log10(v)); return p * [1, 2, 5, 10].find(k => k * p >= v * .999); }
function moment(t, step) { // with the digits that tell neighbours apart
  if (t === 0) return '0';
  const [unit, name] = to >= 1000 ? [1000, ' s'] : to >= 1 ? [1, ' ms'] : [.001, ' \u00b5s'];
  return (t / unit).toFixed(Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)))) + name;
}
function where(p) { return p < 0 ? 'unknown place' : D.places[p]; }
const tip = $('tip');
function tell(e, text) {
  e.addEventListener('pointermove', v => { tip.textContent = text; tip.style.display = 'block';
    tip.style.left = Math.min(v.clientX + 12, innerWidth - tip.offsetWidth - 8) + 'px'; tip.style.top = v.clientY + 14 + 'px'; });
  e.addEventListener('pointerleave', () => { tip.style.display = 'none'; });
}
function frame(id, height, left) {
  const box = $(id); if (!box) return null;
  const width = Math.max(280, box.clientWidth - 16), svg = el('svg', {viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': box.dataset.label});
  box.replaceChildren(svg);
  const x = t => left + (width - left - 10) * (t - from) / (to - from);
  return {svg, width, height, left, x, bottom: height - 22};
}
function ticks(f, y) {
  f.svg.append(el('line', {class: 'axis', x1: f.left, x2: f.width - 10, y1: f.bottom, y2: f.bottom}));
  const step = round((to - from) / (f.width < 500 ? 5 : 8));
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to; k++) {
    const t = k * step, x = f.x(t);
    f.svg.append(el('line', {class: 'axis', x1: x, x2: x, y1: f.bottom, y2: f.bottom + 4}));
    f.svg.append(el('text', {x, y: f.height - 6, 'text-anchor': x > f.width - 30 ? 'end' : x < f.left + 12 ? 'start' : 'middle'}, moment(t, step)));
  }
  for (const [at, text] of y) {
    f.svg.append(el('line', {class: 'axis', x1: f.left, x2: f.width - 10, y1: at, y2: at, 'stroke-dasharray': '2 4'}));
    f.svg.append(el('text', {x: f.left - 6, y: at + 4, 'text-anchor': 'end'}, text));
  }
}
function median(v) { v.sort((a, b) => a - b); return v[v.length >> 1]; }
function calls() {
  const f = frame('calls', 240, 62); if (!f) return;
  const shown = D.calls.filter(c => c[0] >= from && c[0] <= to);
  const all = D.calls.map(c => c[1]), low = Math.log10(Math.max(1e-5, Math.min(...all)) * .8), high = Math.log10(Math.max(...all) * 1.25);
  const y = ms => f.bottom - (f.bottom - 10) * (Math.log10(Math.max(ms, 1e-5)) - low) / Math.max(.3, high - low);
  const lines = [];
  for (let d = Math.ceil(low); d <= high; d++) lines.push([y(10 ** d), span(10 ** d)]);
  ticks(f, lines);
  for (const [t, ms, kind, place] of shown) {
    const dot = el('circle', {cx: f.x(t).toFixed(1), cy: y(ms).toFixed(1), r: 2.3, fill: `var(--k${kind})`, 'fill-opacity': .55});
    tell(dot, `${where(place)}: ${D.kinds[kind]}, ${span(ms)}`);
    f.svg.append(dot);
  }
  const [main, kind] = D.main, bins = Math.max(4, Math.min(40, Math.floor(f.width / 24))), pieces = [[]];
  for (let b = 0; b < bins; b++) {
    const a = from + (to - from) * b / bins, z = from + (to - from) * (b + 1) / bins;
    const v = shown.filter(c => c[0] >= a && c[0] < z && c[3] === main && c[2] === kind).map(c => c[1]);
    if (v.length > 1) pieces[pieces.length - 1].push([f.x((a + z) / 2), y(median(v))]);
    else if (pieces[pieces.length - 1].length) pieces.push([]);  // a gap: nothing was called
  }
  for (const p of pieces.filter(p => p.length)) {
    if (p.length === 1) p.splice(0, 1, [p[0][0] - 5, p[0][1]], [p[0][0] + 5, p[0][1]]);
    f.svg.append(el('polyline', {class: 'median', points: p.map(q => `${q[0].toFixed(1)},${q[1].toFixed(1)}`).join(' '), fill: 'none', stroke: 'var(--ink)', 'stroke-width': 2}));
  }
  $('calls').dataset.shown = shown.length;
}
function size(b) { return b >= 1048576 ? digits(b / 1048576) + ' MB' : digits(b / 1024) + ' KB'; }
function sizes(most, y) {
  const unit = most >= 1048576 ? 1048576 : 1024, step = unit * round(most / unit / 4), made = [];
  for (let b = step; b <= most; b += step) made.push([y(b), size(b)]);
  return made;
}
function memory() {
  const f = frame('memory', 170, 62); if (!f) return;
  const most = Math.max(...D.memory.map(m => m[1])) * 1.08, y = b => f.bottom - (f.bottom - 10) * b / most;
  ticks(f, sizes(most, y));
  const line = k => D.memory.filter(m => m[0] >= from - D.end / 50 && m[0] <= to + D.end / 50).map(m => `${f.x(m[0]).toFixed(1)},${y(m[k]).toFixed(1)}`);
  const p = line(1);
  if (p.length) f.svg.append(el('polygon', {points: `${p[0].split(',')[0]},${f.bottom} ${p.join(' ')} ${p[p.length - 1].split(',')[0]},${f.bottom}`, fill: 'var(--k0)', 'fill-opacity': .13}));
  f.svg.append(el('polyline', {points: p.join(' '), fill: 'none', stroke: 'var(--k0)', 'stroke-width': 2}));
  f.svg.append(el('polyline', {points: line(2).join(' '), fill: 'none', stroke: 'var(--k3)', 'stroke-width': 2}));
}
function holders() {
  const f = frame('holders', 170, 62); if (!f) return;
  const most = Math.max(4096, ...D.memory.map(m => m[2])) * 1.08, y = b => f.bottom - (f.bottom - 10) * b / most;
  ticks(f, sizes(most, y));
  const shown = D.memory.filter(m => m[0] >= from - D.end / 50 && m[0] <= to + D.end / 50), below = shown.map(() => 0);
  if (shown.length < 2) return;
  D.holders.forEach((name, k) => {
    const top = [], base = [];
    shown.forEach((m, i) => { const x = f.x(m[0]).toFixed(1); base.push(`${x},${y(below[i]).toFixed(1)}`); below[i] += m[3][k]; top.push(`${x},${y(below[i]).toFixed(1)}`); });
    const area = el('polygon', {points: top.concat(base.reverse()).join(' '), fill: `var(--h${k})`, 'fill-opacity': .75});
    tell(area, `${name}: at most ${size(Math.max(...shown.map(m => m[3][k])))}`);
    f.svg.append(area);
  });
  f.svg.append(el('polyline', {points: shown.map(m => `${f.x(m[0]).toFixed(1)},${y(m[2]).toFixed(1)}`).join(' '), fill: 'none', stroke: 'var(--k3)', 'stroke-width': 1.5}));
}
function timeline() {
  const kinds = D.kinds.map((_, k) => k).filter(k => D.events.some(e => e[2] === k)), row = 24;
  const f = frame('timeline', kinds.length * row + 26, innerWidth < 600 ? 92 : 124); if (!f) return;
  ticks(f, []);
  let drawn = 0;
  kinds.forEach((kind, r) => {
    f.svg.append(el('text', {class: 'label', x: 2, y: r * row + 17}, D.kinds[kind]));
    let edge = -1;
    for (const [end, took, k, place] of D.events) {
      if (k !== kind || end < from || end - took > to) continue;
      const a = Math.max(f.left, f.x(end - took)), z = Math.min(f.width - 10, f.x(end));
      if (z < edge + .4) continue;
      edge = Math.max(z, a + 1);
      const bar = el('rect', {x: a.toFixed(1), y: r * row + 5, width: Math.max(1, z - a).toFixed(1), height: row - 9, rx: 1.5, fill: `var(--k${kind % 10})`});
      tell(bar, `${D.kinds[kind]} at ${where(place)}: ${span(took)}`);
      f.svg.append(bar); drawn++;
    }
  });
  $('timeline').dataset.drawn = drawn;
}
let root = D.flame;
function flame() {
  const box = $('flame'); if (!box) return;
  const width = Math.max(280, box.clientWidth - 16), row = 21, bars = [];
  let depth = 0;
  (function walk(n, a, wide, d) {
    depth = Math.max(depth, d); bars.push([n, a, wide, d]);
    let at = a;
    for (const c of n.c || []) { const w = wide * c.t / n.t; if (w > 1.5) walk(c, at, w, d + 1); at += w; }
  })(root, 0, width, 0);
  const svg = el('svg', {class: 'flame', viewBox: `0 0 ${width} ${(depth + 1) * row}`, height: (depth + 1) * row, role: 'img', 'aria-label': box.dataset.label});
  for (const [n, a, wide, d] of bars) {
    const g = el('g', {}), bar = el('rect', {x: a.toFixed(1), y: d * row, width: Math.max(.5, wide - .5).toFixed(1), height: row - 1, rx: 2, fill: `var(--f${(d * 7 + n.n.length) % 4})`});
    tell(bar, `${n.n}: ${span(n.t)}, ${(100 * n.t / D.flame.t).toFixed(1)} % of the run`);
    bar.addEventListener('click', () => { root = n === root ? D.flame : n; flame(); });
    g.append(bar);
    const room = Math.floor((wide - 8) / 6.3);
    if (room > 3) g.append(el('text', {x: a + 5, y: d * row + 15}, n.n.length > room ? n.n.slice(0, room - 1) + '\u2026' : n.n));
    svg.append(g);
  }
  box.replaceChildren(svg);
  $('flamewhat').textContent = root === D.flame ? 'Click a frame to enlarge it.' : `Showing ${root.n}. Click its bar to go back.`;
}
function draw() {
  calls(); memory(); holders(); timeline();
  $('range').textContent = from === 0 && to === D.end ? `the whole run, ${span(D.end)}` : `${span(from)} to ${span(to)} of ${span(D.end)}`;
}
function zoom(at, by) {
  const half = Math.max(D.end / 5000, (to - from) * by), a = at - half * (at - from) / (to - from);
  from = Math.max(0, a); to = Math.min(D.end, from + half);
  if (to - from > .999 * D.end) { from = 0; to = D.end; }
  draw();
}
if (D.end) {
  $('in').onclick = () => zoom((from + to) / 2, .5);
  $('out').onclick = () => zoom((from + to) / 2, 2);
  $('left').onclick = () => { const w = to - from; from = Math.max(0, from - w / 2); to = from + w; draw(); };
  $('right').onclick = () => { const w = to - from; to = Math.min(D.end, to + w / 2); from = to - w; draw(); };
  $('reset').onclick = () => { from = 0; to = D.end; draw(); };
  for (const id of ['calls', 'memory', 'holders', 'timeline']) {
    const box = $(id); if (!box) continue;
    let start = null;
    const time = v => { const left = id === 'timeline' ? (innerWidth < 600 ? 92 : 124) : 62, r = box.firstElementChild.getBoundingClientRect();
      return from + (to - from) * Math.min(1, Math.max(0, (v.clientX - r.left - left) / (r.width - left - 10))); };
    box.addEventListener('wheel', v => { if (v.ctrlKey || v.metaKey) { v.preventDefault(); zoom(time(v), v.deltaY < 0 ? .7 : 1.4); } }, {passive: false});
    box.addEventListener('pointerdown', v => { if (v.pointerType === 'mouse') start = time(v); });
    box.addEventListener('pointerup', v => { if (start === null) return; const end = time(v), a = Math.min(start, end), z = Math.max(start, end); start = null;
      if (z - a > (to - from) / 100) { from = a; to = z; draw(); } });
  }
  draw(); flame();
  let wide = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== wide) { wide = innerWidth; draw(); flame(); } });
}
"""
