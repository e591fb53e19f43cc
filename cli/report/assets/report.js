// The time line: units as a heat map, sensors as lines, one view for all of it. Data are characters
// (see html_timeline.cpp): a code of 6 bits each, decoded once into prefix sums, so that the mean of
// any column costs the same.
'use strict';
(() => {
const byId = id => document.getElementById(id);
const lines = byId('lines');
if (!lines || !window.uPlot) return;
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const root = document.documentElement;
const num = name => +lines.dataset[name];
const start = num('start'), end = num('end'), first = num('first'), windowS = num('window'), windows = num('windows');
const sensorS = num('sensorWindow'), rate = num('rate');
const smallest = Math.min(2, end - start);
const rowHeight = 18, barHeight = 16, stageHeight = 14, sensorHeight = 58;
const css = name => getComputedStyle(root).getPropertyValue(name).trim();
const phases = all('#band g').map(g => ({
  from: +g.dataset.a, to: +g.dataset.b, number: g.dataset.n, group: g,
  name: g.querySelector('title').textContent.split(',')[0]}));
let view = [start, end];
let colours = {};
function readColours() {
  colours = {ink: css('--ink'), heat: css('--heat'), quiet: css('--quiet'), line: css('--line'),
             ground: css('--ground'), hatch: css('--cU')};
  colours.pattern = null;
}

// Units. For each: sums of busy codes, of known windows and of the binomial spread, up to a window.
const text = byId('busy').textContent;
const names = all('#units .unit'), values = all('#busy-values .unit');
const sums = names.map((_, unit) => {
  const busy = new Uint32Array(windows + 1), known = new Uint32Array(windows + 1);
  const spread = new Uint32Array(windows + 1);
  for (let i = 0, at = unit * windows; i < windows; ++i, ++at) {
    const code = text.charCodeAt(at) - 48, is = code < 63 ? 1 : 0;
    busy[i + 1] = busy[i] + is * code;
    known[i + 1] = known[i] + is;
    spread[i + 1] = spread[i] + is * code * (62 - code);
  }
  return {busy, known, spread};
});
const between = (list, a, b) => list[b] - list[a];
function windowsOf(from, to) {
  const clamp = i => Math.max(0, Math.min(windows, i));
  const a = clamp(Math.floor((from - first) / windowS + 1e-6));
  return [a, Math.max(a, clamp(Math.ceil((to - first) / windowS - 1e-6)))];
}

// Sensors: least, mean and most of each window; null = no reading.
const sensorText = byId('sensors').textContent;
const lanes = all('.sensor', lines);
const sensorWindows = lanes.length ? sensorText.length / 6 / lanes.length : 0;
const sensorTimes = Array.from({length: sensorWindows}, (_, i) => first + (i + .5) * sensorS);
const tracks = lanes.map((lane, index) => {
  const low = +lane.dataset.low, high = +lane.dataset.high;
  const decode = part => sensorTimes.map((_, i) => {
    const at = ((index * 3 + part) * sensorWindows + i) * 2;
    const code = (sensorText.charCodeAt(at) - 48) * 64 + sensorText.charCodeAt(at + 1) - 48;
    return code === 4095 ? null : low + (high - low) * code / 4094;
  });
  return {lane, low, high, limit: 'limit' in lane.dataset ? +lane.dataset.limit : null,
          decimals: +lane.dataset.decimals, data: [sensorTimes, decode(0), decode(1), decode(2)]};
});

function clock(seconds, fine) {
  const tenths = Math.round(seconds * 10), whole = fine ? Math.floor(tenths / 10) : Math.round(seconds);
  const two = n => String(n).padStart(2, '0');
  const h = Math.floor(whole / 3600), m = Math.floor(whole / 60) % 60;
  return (h ? h + ':' + two(m) : m) + ':' + two(whole % 60) + (fine ? '.' + tenths % 10 : '');
}
const short = seconds => seconds < 120 ? +seconds.toFixed(seconds < 10 ? 2 : 0) + ' s' : clock(seconds, false);

// The heat map.
let rows = [];  // {unit, y} of what is shown
function layoutRows() {
  rows = [];
  let y = 0;
  for (const child of byId('units').children) {
    if (child.offsetParent === null) continue;
    if (child.classList.contains('unit')) {
      rows.push({unit: names.indexOf(child), y});
      y += rowHeight;
    } else {
      y += stageHeight;
    }
  }
  return Math.max(y, rowHeight);
}
function hatch(context, ratio) {
  if (colours.pattern) return colours.pattern;
  const size = 6 * ratio, tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const c = tile.getContext('2d');
  c.strokeStyle = colours.hatch;
  c.lineWidth = ratio;
  for (const shift of [-size, 0, size]) {
    c.moveTo(shift - ratio, size + ratio);
    c.lineTo(shift + size + ratio, -ratio);
  }
  c.stroke();
  return colours.pattern = context.createPattern(tile, 'repeat');
}
let columnS = windowS;
function drawHeat(u) {
  const c = u.ctx, ratio = devicePixelRatio || 1, {left, top, width} = u.bbox;
  const [from, to] = view, scale = width / (to - from);
  const step = Math.max(1, Math.round((to - from) / width / windowS));
  columnS = step * windowS;
  const [a, last] = windowsOf(from, to), begin = a - a % step;
  c.save();
  c.beginPath();
  c.rect(left, top, width, u.bbox.height);
  c.clip();
  for (const {unit, y} of rows) {
    const {busy, known} = sums[unit];
    const yTop = top + Math.round((y + 1) * ratio), height = Math.round(barHeight * ratio);
    for (let i = begin; i < last; i += step) {
      const next = Math.min(i + step, windows), n = between(known, i, next);
      const x = left + Math.round((first + i * windowS - from) * scale);
      const right = left + Math.round((first + next * windowS - from) * scale);
      c.fillStyle = n ? `rgba(${colours.heat},${(.03 + .97 * between(busy, i, next) / 62 / n).toFixed(3)})`
                      : hatch(c, ratio);
      c.fillRect(x, yTop, Math.max(1, right - x), height);
    }
  }
  c.restore();
}

// Plots share the view, the cursor, and what a drag or a wheel does.
const sync = uPlot.sync('time');
let hovered = null, plots = [];
function options(width, height, series, range, hooks) {
  return {width, height, series, padding: [0, 0, 0, 0], legend: {show: false},
    axes: [{show: false}, {show: false}],
    scales: {x: {time: false, range: () => view}, y: {range: () => range}},
    cursor: {sync: {key: sync.key, setSeries: false}, y: false, points: {show: false},
             drag: {x: true, y: false, setScale: false}, bind: {dblclick: () => null}},
    hooks: {...hooks, setSelect: [u => {
      if (u !== hovered || u.select.width < 4) return;
      const a = u.posToVal(u.select.left, 'x'), b = u.posToVal(u.select.left + u.select.width, 'x');
      u.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
      for (const plot of plots) plot.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
      setView(a, b);
    }], setCursor: [point]}};
}
function drawLane(u, track) {
  const c = u.ctx, ratio = devicePixelRatio || 1, {left, top, width, height} = u.bbox;
  c.save();
  c.lineWidth = ratio;
  c.strokeStyle = colours.line;
  c.beginPath();
  for (const at of ticks(width / ratio)) {
    const x = Math.round(u.valToPos(at, 'x', true)) + .5;
    c.moveTo(x, top);
    c.lineTo(x, top + height);
  }
  c.stroke();
  if (track.limit !== null) {
    const y = Math.round(u.valToPos(track.limit, 'y', true)) + .5;
    c.setLineDash([4 * ratio, 3 * ratio]);
    c.strokeStyle = colours.quiet;
    c.beginPath();
    c.moveTo(left, y);
    c.lineTo(left + width, y);
    c.stroke();
  }
  c.restore();
}
function build() {
  for (const plot of plots) plot.destroy();
  plots = [];
  readColours();
  const heat = byId('heat'), width = heat.clientWidth;
  const height = layoutRows();
  if (!width) return;
  plots.push(new uPlot(options(width, height, [{}, {paths: () => null, points: {show: false}}], [0, 1],
                               {draw: [drawHeat]}), [[start, end], [null, null]], heat));
  const line = (shown) => ({width: shown ? 1.25 : 0, points: shown ? {} : {show: false},
                            stroke: () => shown ? colours.ink : 'transparent'});
  for (const track of tracks) {
    if (track.lane.offsetParent === null) continue;
    const margin = (track.high - track.low) * .06;
    const made = options(width, sensorHeight, [{}, line(false), line(true), line(false)],
                         [track.low - margin, track.high + margin],
                         {drawClear: [u => drawLane(u, track)]});
    made.bands = [{series: [3, 1], fill: () => `rgba(${colours.heat},.25)`}];
    plots.push(new uPlot(made, track.data, track.lane.querySelector('.plot')));
  }
  for (const plot of plots) {
    plot.over.addEventListener('mouseenter', () => { hovered = plot; });
    plot.over.addEventListener('mousedown', () => { hovered = plot; });
    plot.over.addEventListener('dblclick', () => setView(start, end));
  }
  update();
}

// Everything beside the plots.
function ticks(width) {
  const span = view[1] - view[0], least = span * 64 / Math.max(width, 64);
  const step = [.1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600]
    .find(one => one >= least) || Math.ceil(least / 86400) * 86400;
  const list = [];
  for (let i = Math.ceil(view[0] / step - 1e-9); i * step <= view[1] + 1e-9; ++i) list.push(i * step);
  list.step = step;
  return list;
}
const percent = at => 100 * (at - view[0]) / (view[1] - view[0]);
function updateBand() {
  const width = byId('band').clientWidth || 1;
  for (const phase of phases) {
    const [rect] = phase.group.getElementsByTagName('rect');
    const [letter] = phase.group.getElementsByTagName('text');
    const a = Math.max(view[0], phase.from), b = Math.min(view[1], phase.to);
    const seen = b > a, pixels = (b - a) / (view[1] - view[0]) * width;
    phase.group.style.display = seen ? '' : 'none';
    if (!seen) continue;
    rect.setAttribute('x', percent(a) + '%');
    rect.setAttribute('width', pixels < 2 ? '2' : percent(b) - percent(a) + '%');
    rect.style.strokeWidth = pixels < 4 ? 0 : 1;
    letter.setAttribute('x', percent((a + b) / 2) + '%');
    letter.setAttribute('class', pixels >= 17 ? '' : 'none');
  }
}
function updateAxis() {
  const axis = byId('axis'), list = ticks(axis.clientWidth);
  axis.textContent = '';
  for (const at of list) {
    const mark = document.createElement('span');
    mark.textContent = clock(at, list.step < 1);
    mark.style.left = percent(at).toFixed(3) + '%';
    axis.append(mark);
  }
}
const whole = values.map(cell => [...cell.children].map(part => part.textContent));
function updateValues() {
  const [a, b] = windowsOf(view[0], view[1]);
  const isWhole = view[0] <= start && view[1] >= end;
  values.forEach((cell, unit) => {
    const [share, error] = cell.children, {busy, known, spread} = sums[unit];
    if (isWhole) {
      [share.textContent, error.textContent] = whole[unit];
      return;
    }
    const n = between(known, a, b);
    if (!n) {
      share.textContent = '?';
      error.textContent = '';
      return;
    }
    const mean = 100 * between(busy, a, b) / 62 / n;
    share.textContent = (mean > 0 && mean < .95 || mean > 99 && mean < 100 ? mean.toFixed(1)
                         : mean.toFixed(0)) + ' %';
    // At most what independent samples in each window would scatter by, and half a code.
    const wide = 196 * Math.sqrt(between(spread, a, b) / (62 * 62) / (rate * windowS)) / n + .8 / Math.sqrt(n);
    error.textContent = rate > 0 ? wide < 1 ? '±<1' : '±' + Math.ceil(wide) : '';
  });
  for (const track of tracks) {
    let least = Infinity, most = -Infinity, sum = 0, n = 0;
    sensorTimes.forEach((at, i) => {
      if (at < view[0] || at > view[1] || track.data[2][i] === null) return;
      least = Math.min(least, track.data[1][i] ?? track.data[2][i]);
      most = Math.max(most, track.data[3][i] ?? track.data[2][i]);
      sum += track.data[2][i];
      ++n;
    });
    const [mean, range] = track.lane.querySelector('.values').children;
    const show = value => value.toFixed(track.decimals);
    mean.textContent = n ? (innerWidth > 700 ? 'mean ' : '') + show(sum / n) : 'no reading';
    range.textContent = n ? show(least) + ' to ' + show(most) : '';
  }
}
function fine() { return view[1] - view[0] < 60; }
function update() {
  updateBand();
  updateAxis();
  updateValues();
  byId('range').textContent = clock(view[0], fine()) + ' – ' + clock(view[1], fine()) +
    ', a column is ' + short(columnS);
  const current = phases.find(phase => Math.abs(phase.from - view[0]) < .01 && Math.abs(phase.to - view[1]) < .01);
  for (const row of all('tr.now, .sel')) row.classList.remove('now', 'sel');
  if (current) {
    byId('p' + current.number)?.classList.add('now');
    for (const mark of all(`[data-n="${current.number}"].phase`)) mark.classList.add('sel');
  }
}
function point(u) {
  if (u !== hovered) return;
  const {left, top} = u.cursor, place = byId('pointed');
  if (left == null || left < 0) return;
  const at = u.posToVal(left, 'x'), parts = [clock(at, fine())];
  const phase = phases.find(one => at >= one.from && at < one.to);
  if (phase) parts.push('phase ' + phase.name);
  const row = u === plots[0] && rows.find(one => top >= one.y && top < one.y + rowHeight);
  if (row) {
    const [a] = windowsOf(at - columnS / 2, at), b = Math.min(windows, a + Math.max(1, Math.round(columnS / windowS)));
    const {busy, known} = sums[row.unit], n = between(known, a, b);
    parts.push(names[row.unit].textContent + ' ' +
      (n ? (100 * between(busy, a, b) / 62 / n).toFixed(0) + ' %' : 'unknown or asleep'));
  }
  for (const track of tracks) {
    const value = track.data[2][Math.floor((at - first) / sensorS)];
    const label = track.lane.querySelector('b').textContent;
    if (track.lane.offsetParent !== null && value != null) parts.push(label + ' ' + value.toFixed(track.decimals));
  }
  place.textContent = parts.join(' · ');
}

// The view, and the address that keeps it.
function setView(from, to, keep = true) {
  let span = Math.max(smallest, Math.min(to - from, end - start));
  if (!(span > 0)) return;
  const middle = (from + to) / 2;
  let a = to - from < span ? middle - span / 2 : from;
  a = Math.max(start, Math.min(a, end - span));
  view = [a, a + span];
  if (keep) {
    const isWhole = a <= start && a + span >= end;
    history.replaceState(null, '', isWhole ? location.pathname + location.search
                                           : `#t=${a.toFixed(1)},${(a + span).toFixed(1)}`);
  }
  for (const plot of plots) plot.setScale('x', {min: view[0], max: view[1]});
  requestAnimationFrame(update);
}
function zoom(factor, at = (view[0] + view[1]) / 2) {
  setView(at - (at - view[0]) * factor, at + (view[1] - at) * factor);
}
function move(share) {
  const by = (view[1] - view[0]) * share;
  setView(view[0] + by, view[1] + by);
}
function step(direction) {
  const here = phases.findIndex(phase => phase.from >= view[0] - .01 && phase.from < view[1]);
  const inside = here >= 0 && Math.abs(phases[here].to - view[1]) < .1;
  const next = phases[inside ? here + direction : direction > 0 ? Math.max(here, 0) : here - 1];
  if (next) setView(next.from, next.to);
}
const actions = {whole: () => setView(start, end), in: () => zoom(.5), out: () => zoom(2),
                 left: () => move(-.25), right: () => move(.25), previous: () => step(-1), next: () => step(1)};
const keys = {'+': 'in', '=': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', 0: 'whole',
              Home: 'whole', Escape: 'whole', n: 'next', p: 'previous'};
lines.addEventListener('keydown', event => {
  if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
  event.preventDefault();
  actions[keys[event.key]]();
});
lines.addEventListener('wheel', event => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  const box = byId('heat').getBoundingClientRect();
  const at = view[0] + (view[1] - view[0]) * Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
  zoom(event.deltaY > 0 ? 1.25 : .8, at);
}, {passive: false});
for (const button of all('[data-do]')) button.addEventListener('click', () => actions[button.dataset.do]());
for (const phase of phases) phase.group.addEventListener('click', () => setView(phase.from, phase.to));
byId('all')?.addEventListener('change', event => {
  lines.classList.toggle('all', event.target.checked);
  build();
});
function readAddress() {
  const found = /^#t=([\d.]+),([\d.]+)$/.exec(location.hash);
  if (!found) return false;
  setView(+found[1], +found[2], false);
  return true;
}
addEventListener('hashchange', () => {
  if (readAddress()) byId('time-line').scrollIntoView({block: 'nearest'});
});

// Phases of the table open on tap where they are folded (narrow pages).
for (const row of all('.phases-table tbody tr')) {
  const button = document.createElement('button');
  button.className = 'open-row';
  button.textContent = 'more';
  button.setAttribute('aria-expanded', 'false');
  button.addEventListener('click', () => {
    const open = row.classList.toggle('open');
    button.setAttribute('aria-expanded', String(open));
    button.textContent = open ? 'less' : 'more';
  });
  row.children[4].append(' ', button);
}

// Paper is light, and as wide as paper.
addEventListener('beforeprint', () => {
  root.dataset.print = '';
  for (const part of all('details')) part.open = true;
  build();
});
addEventListener('afterprint', () => {
  delete root.dataset.print;
  build();
});
matchMedia('(prefers-color-scheme:dark)').addEventListener('change', build);
let width = 0;
new ResizeObserver(() => {
  const now = byId('heat').clientWidth;
  if (now && now !== width && !('print' in root.dataset)) {
    width = now;
    build();
  }
}).observe(byId('heat'));
// After the first frame: the answer does not wait for pictures.
requestAnimationFrame(() => setTimeout(() => {
  readAddress();
  width = byId('heat').clientWidth;
  build();
  root.dataset.ready = '';
}));
})();
