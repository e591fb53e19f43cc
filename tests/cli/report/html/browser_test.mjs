// The HTML report in a browser. Usage: browser_test.mjs CHROMIUM FOLDER [PICTURES]; FOLDER has the
// pages of html_sample. With PICTURES screenshots go there, to be looked at.
import {pathToFileURL} from 'node:url';
import {join} from 'node:path';
import {Browser, Page} from './browser.mjs';

const [program, folder, pictures] = process.argv.slice(2);
const url = (kind, hash = '') => pathToFileURL(join(folder, kind + '.html')).href + hash;
let failures = 0;
function check(what, is, got = '') {
  if (!is) {
    ++failures;
    console.log(`FAILED: ${what}${got === '' ? '' : ': ' + JSON.stringify(got)}`);
  }
}
const ready = "'ready' in document.documentElement.dataset";
const range = "document.getElementById('range').textContent";
const hash = 'location.hash';

const browser = await Browser.start(program);
try {
  // Every kind of page: nothing complains, in all widths and grounds.
  const kinds = ['hour', 'day', 'second', 'unknown', 'import', 'hostile', 'no-phases', 'short', 'empty', 'bench'];
  for (const kind of kinds) {
    for (const look of [{}, {dark: true}, {width: 390, height: 844}]) {
      const page = await Page.open(browser, url(kind), look);
      const drawn = await page.value("!!document.getElementById('lines')");
      if (drawn) await page.until(ready);
      const wide = await page.value('document.documentElement.scrollWidth - innerWidth');
      check(`${kind} at ${look.width ?? 1280} px fits its window`, wide <= 0, wide);
      const name = kind + (look.dark ? '-dark' : look.width ? '-phone' : '');
      if (pictures) await page.picture(join(pictures, name + '.png'));
      check(name + ' has no complaint', page.complaints.length === 0, page.complaints);
      await page.close();
    }
  }

  // A bench has no script; its tables open, and paper has them open.
  const bench = await Page.open(browser, url('bench'));
  const tables = "[...document.querySelectorAll('details')].filter(one => one.open).length";
  check('tables are folded at first', (await bench.value(tables)) === 0, await bench.value(tables));
  const drawn = "document.querySelectorAll('svg.bench').length";
  check('each test and each kind of several paths is drawn', (await bench.value(drawn)) === 5, await bench.value(drawn));
  await bench.close();
  const paper = await Page.open(browser, url('bench'), {dark: true, print: true, width: 794});
  const ground = await paper.value('getComputedStyle(document.body).backgroundColor');
  check('paper is white, whatever the screen is', ground === 'rgb(255, 255, 255)', ground);
  const cells = "[...document.querySelectorAll('details td')].filter(one => one.checkVisibility({contentVisibilityAuto: true})).length";
  check('paper has all tables', (await paper.value(cells)) > 0 &&
        (await paper.value(cells)) === (await paper.value("document.querySelectorAll('details td').length")), await paper.value(cells));
  const over = await paper.value('document.documentElement.scrollWidth - innerWidth');
  check('a bench fits on paper', over <= 0, over);
  check('paper has no complaint', paper.complaints.length === 0, paper.complaints);
  if (pictures) await paper.picture(join(pictures, 'bench-paper.png'));
  await paper.close();

  // The hour: first paint, with a cold start each.
  const paints = [];
  for (let i = 0; i < 7; ++i) {
    const page = await Page.open(browser, url('hour'));
    await page.until("performance.getEntriesByName('first-contentful-paint').length > 0");
    paints.push(await page.value("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
    await page.close();
  }
  paints.sort((a, b) => a - b);
  console.log(`first contentful paint of an hour: median ${paints[3].toFixed(0)} ms, worst ` +
              `${paints[6].toFixed(0)} ms of 7`);
  check('first contentful paint within 5 s, even on a busy machine', paints[3] < 5000, paints);

  // Zoom: keys, buttons, drag, double click, address.
  let page = await Page.open(browser, url('hour'));
  await page.until(ready);
  check('whole run at first', (await page.value(range)).startsWith('0:00 – 1:00:00'), await page.value(range));
  await page.key('+');
  check('keys do nothing without focus', (await page.value(hash)) === '', await page.value(hash));
  await page.value("document.getElementById('lines').focus()");
  await page.key('+');
  check('+ zooms and keeps the view in the address', (await page.value(hash)) === '#t=900.0,2700.0', await page.value(hash));
  await page.key('ArrowRight');
  check('arrows move', (await page.value(hash)) === '#t=1350.0,3150.0', await page.value(hash));
  await page.key('-');
  await page.key('0');
  check('0 shows all, and leaves no address', (await page.value(hash)) === '', await page.value(hash));
  await page.key('n');
  check('n goes to the first phase', (await page.value(hash)) === '#t=0.0,21.0', await page.value(hash));
  await page.key('n');
  check('n goes to the next phase', (await page.value(hash)) === '#t=21.0,99.0', await page.value(hash));
  await page.key('p');
  check('p goes back', (await page.value(hash)) === '#t=0.0,21.0', await page.value(hash));
  await page.until(`${range}.startsWith('0:00.0 – 0:21.0')`);
  check('the table shows which phase is in view', await page.value("document.getElementById('p1').className === 'now'"));
  for (let i = 0; i < 20; ++i) await page.key('+');
  const smallest = (await page.value(hash)).match(/t=([\d.]+),([\d.]+)/);
  check('no view is shorter than 2 s', smallest && Math.abs(smallest[2] - smallest[1] - 2) < .11, smallest);
  await page.key('Escape');
  check('Escape shows all', (await page.value(hash)) === '', await page.value(hash));
  const box = await page.value("(r => ({x: r.x, y: r.y, width: r.width}))(document.getElementById('heat').getBoundingClientRect())");
  const y = box.y + 60;
  await page.mouse('mouseMoved', box.x + box.width / 4, y);
  await page.mouse('mousePressed', box.x + box.width / 4, y, {button: 'left', clickCount: 1});
  await page.mouse('mouseMoved', box.x + box.width / 2, y, {button: 'left'});
  await page.mouse('mouseReleased', box.x + box.width / 2, y, {button: 'left', clickCount: 1});
  const dragged = (await page.value(hash)).match(/t=([\d.]+),([\d.]+)/);
  check('a drag selects', dragged && Math.abs(dragged[1] - 900) < 15 && Math.abs(dragged[2] - 1800) < 15, dragged);
  check('the read-out names time, phase and unit', /\d:\d\d · phase \d+ .* · \S+ (\d+ %|unknown)/.test(
    await page.value("document.getElementById('pointed').textContent")),
    await page.value("document.getElementById('pointed').textContent"));
  for (const clickCount of [1, 2]) {
    await page.mouse('mousePressed', box.x + 200, y, {button: 'left', clickCount});
    await page.mouse('mouseReleased', box.x + 200, y, {button: 'left', clickCount});
  }
  check('a double click shows all', (await page.value(hash)) === '', await page.value(hash));
  await page.value("document.querySelector('#p13 a').click()");
  await page.until(`${range}.startsWith('26:09')`);
  check('a link of the table shows its phase', (await page.value(hash)) === '#t=1569.000,1971.000', await page.value(hash));
  const exact = await page.value("document.querySelectorAll('#busy-values .unit b')[0].textContent");
  check('numbers are of the view', exact === '100 %', exact);
  const rows = "[...document.querySelectorAll('#units .unit')].filter(row => row.offsetParent).length";
  check('12 units at first', (await page.value(rows)) === 12, await page.value(rows));
  await page.value("document.getElementById('all').click()");
  check('all units on request', (await page.value(rows)) === 40, await page.value(rows));
  if (pictures) await page.picture(join(pictures, 'hour-zoomed-all.png'));
  check('nothing complained while zooming', page.complaints.length === 0, page.complaints);
  await page.close();

  // A view that comes with the address; one that makes no sense.
  page = await Page.open(browser, url('hour', '#t=1546.0,1610.0'));
  await page.until(ready);
  check('the address sets the view', (await page.value(range)).startsWith('25:46 – 26:50'), await page.value(range));
  await page.close();
  for (const bad of ['#t=9999,99999', '#t=5,4', '#t=...,...', '#t=1e9,x', '#<script>']) {
    page = await Page.open(browser, url('hour', bad));
    await page.until(ready);
    check(bad + ' does no harm', page.complaints.length === 0 && /\d – /.test(await page.value(range)), [page.complaints, await page.value(range)]);
    await page.close();
  }

  // A recording whose data begin late: nothing is drawn before, and nothing is moved.
  page = await Page.open(browser, url('late'));
  await page.until(ready);
  const late = await page.value(`(() => {
    const canvas = document.querySelector('#heat canvas'), c = canvas.getContext('2d');
    const at = share => c.getImageData(Math.round(canvas.width * share), 14 + 9, 1, 1).data[3];
    return {before: at(.2), after: at(.6)};
  })()`);
  check('what was before the data is blank', late.before === 0 && late.after > 200, late);
  await page.close();

  // Picture and number agree: known pixels of a busy and of an idle stretch.
  page = await Page.open(browser, url('hour'));
  await page.until(ready);
  const ink = await page.value(`(() => {
    const canvas = document.querySelector('#heat canvas'), c = canvas.getContext('2d');
    const at = share => [...c.getImageData(Math.round(canvas.width * share), 14 + 9, 1, 1).data];
    return {idle: at(10 / 3600), busy: at(300 / 3600)};
  })()`);
  check('busy is ink, idle is faint, neither is blank', ink.busy[3] > 240 && ink.idle[3] > 2 && ink.idle[3] < 30, ink);

  // Print: light, complete, restored afterwards.
  const pages = await page.print(pictures && join(pictures, 'hour.pdf'));
  check('a few sheets of paper', pages >= 2 && pages <= 12, pages);
  check('print leaves no trace', !(await page.value("'print' in document.documentElement.dataset")));
  await page.close();

  // A phone folds phases.
  page = await Page.open(browser, url('hour'), {width: 390, height: 844});
  await page.until(ready);
  const shown = "!!document.querySelector('#p3 .more-text').offsetParent";
  check('a phone folds evidence', !(await page.value(shown)));
  await page.value("document.querySelector('#p3 button').click()");
  check('a tap opens it', await page.value(shown));
  await page.close();

  // Without scripts: all but the time line.
  page = await Page.open(browser, url('hour'), {scripts: false});
  if (pictures) await page.picture(join(pictures, 'hour-no-script.png'));
  const {root} = await page.send('DOM.getDocument');
  const styled = async (selector, name) => {
    const {nodeId} = await page.send('DOM.querySelector', {nodeId: root.nodeId, selector});
    const {computedStyle} = await page.send('CSS.getComputedStyleForNode', {nodeId});
    return computedStyle.find(one => one.name === name).value;
  };
  await page.send('CSS.enable');
  check('without scripts no dead buttons', (await styled('.tools', 'display')) === 'none');
  check('without scripts the band is there', (await styled('#band', 'display')) !== 'none');
  check('without scripts evidence is open', (await styled('#p3 .more-text', 'display')) !== 'none');
  check('without scripts no complaint', page.complaints.length === 0, page.complaints);
  await page.close();
} finally {
  await browser.stop();
}
console.log(failures === 0 ? 'all checks passed' : `${failures} checks failed`);
process.exit(failures === 0 ? 0 : 1);
