// Drives a headless Chromium over its debugging pipe: no port, no library. Everything that the page
// complains about is collected in `complaints`.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const kDeadlineMs = 60_000;

export class Browser {
  static async start(program) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), 'gputrace-browser-'));
    browser.process = spawn(program, [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking',
      '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars', '--remote-debugging-pipe',
      `--user-data-dir=${browser.profile}`, 'about:blank'
    ], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    browser.waiting = new Map();
    browser.listeners = [];
    browser.next = 1;
    let text = '';
    browser.process.stdio[4].on('data', data => {
      const messages = (text + data).split('\0');
      text = messages.pop();
      messages.forEach(message => browser.receive(JSON.parse(message)));
    });
    browser.process.on('exit', code => {
      for (const {reject} of browser.waiting.values()) reject(new Error(`Chromium ended: ${code}`));
    });
    browser.process.on('error', error => {
      for (const {reject} of browser.waiting.values()) reject(error);
    });
    return browser;
  }

  receive(message) {
    const waiting = this.waiting.get(message.id);
    if (waiting) {
      this.waiting.delete(message.id);
      message.error ? waiting.reject(new Error(message.error.message)) : waiting.resolve(message.result);
      return;
    }
    for (const listener of [...this.listeners]) listener(message);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject}));
    this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    return this.limited(answer, method);
  }

  limited(promise, what) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${what}: no answer in ${kDeadlineMs / 1000} s`)), kDeadlineMs);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }

  async stop() {
    const ended = new Promise(resolve => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
    try {
      rmSync(this.profile, {recursive: true, force: true, maxRetries: 20});
    } catch (error) {
      // Its other processes die a little later and may still write. That says nothing of the pages.
      console.log(`left behind: ${error.message}`);
    }
  }
}

export class Page {
  /// `look`: {width, height, dark, print, scripts}
  static async open(browser, url, look = {}) {
    const page = new Page();
    page.browser = browser;
    page.complaints = [];
    const {browserContextId} = await browser.send('Target.createBrowserContext');
    page.context = browserContextId;
    const {targetId} = await browser.send('Target.createTarget', {url: 'about:blank', browserContextId});
    const {sessionId} = await browser.send('Target.attachToTarget', {targetId, flatten: true});
    page.session = sessionId;
    page.listener = message => page.hear(message);
    browser.listeners.push(page.listener);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(domain + '.enable');
    await page.send('Emulation.setDeviceMetricsOverride', {
      width: look.width ?? 1280, height: look.height ?? 1000, deviceScaleFactor: 1, mobile: false});
    await page.send('Emulation.setEmulatedMedia', {
      media: look.print ? 'print' : '',
      features: [{name: 'prefers-color-scheme', value: look.dark ? 'dark' : 'light'}]});
    if (look.scripts === false) await page.send('Emulation.setScriptExecutionDisabled', {value: true});
    await page.navigate(url);
    return page;
  }

  send(method, params = {}) { return this.browser.send(method, params, this.session); }

  hear(message) {
    if (message.sessionId !== this.session) return;
    const {method, params} = message;
    if (method === 'Page.loadEventFired') this.loaded?.();
    if (method === 'Runtime.exceptionThrown') {
      this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    }
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type)) {
      this.complaints.push(params.args.map(one => one.value ?? one.description).join(' '));
    }
    if (method === 'Log.entryAdded' && params.entry.level !== 'info' && params.entry.level !== 'verbose') {
      this.complaints.push(params.entry.text);
    }
    if (method === 'Network.requestWillBeSent' && !/^(file|data|about):/.test(params.request.url)) {
      this.complaints.push('asked for ' + params.request.url);
    }
  }

  async navigate(url) {
    const loaded = new Promise(resolve => { this.loaded = resolve; });
    await this.send('Page.navigate', {url});
    await this.browser.limited(loaded, 'loading ' + url);
  }

  async value(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  }

  /// Once `expression` is true; looks at every frame.
  async until(expression) {
    const late = await this.value(`new Promise(resolve => {
      const begin = performance.now();
      const look = () => {
        if (${expression}) resolve(false);
        else if (performance.now() - begin > ${kDeadlineMs / 2}) resolve(true);
        else requestAnimationFrame(look);
      };
      look();
    })`);
    if (late) {
      throw new Error(`never true: ${expression}; ${await this.value(
        "document.getElementById('range')?.textContent + ' ' + location.hash")}; ${this.complaints}`);
    }
  }

  async key(key, code = key) {
    const text = key.length === 1 ? key : undefined;
    await this.send('Input.dispatchKeyEvent', {type: 'keyDown', key, code, text});
    await this.send('Input.dispatchKeyEvent', {type: 'keyUp', key, code});
  }

  async mouse(type, x, y, more = {}) {
    await this.send('Input.dispatchMouseEvent', {type, x, y, ...more});
  }

  async picture(file) {
    const {cssContentSize: {width, height}} = await this.send('Page.getLayoutMetrics');
    const {data} = await this.send('Page.captureScreenshot', {
      captureBeyondViewport: true, clip: {x: 0, y: 0, width, height: Math.min(height, 6000), scale: 1}});
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  async print(file) {
    const {data} = await this.send('Page.printToPDF', {printBackground: true, preferCSSPageSize: true});
    const pdf = Buffer.from(data, 'base64');
    if (file) writeFileSync(file, pdf);
    return (pdf.toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length;
  }

  async close() {
    this.browser.listeners = this.browser.listeners.filter(one => one !== this.listener);
    await this.browser.send('Target.disposeBrowserContext', {browserContextId: this.context});
  }
}
