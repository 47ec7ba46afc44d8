import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { which } from '@rollcall/local'
import { retry } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import axe, { type AxeResults, type RunOptions } from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--js-flags=--no-opt --no-maglev', // pages are too short-lived to gain from optimized code
]
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const NO_BROWSER = 'no browser: install Chromium, or set CHROMIUM_PATH to one'
/** In the order of preference. The first has no window around its pages, which costs much CPU to draw. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'google-chrome']

/** Starts Chromium: CHROMIUM_PATH, that of the PATH, or Debian's package, which root gets installed. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await findChromium(), args: FLAGS })
}

async function findChromium(): Promise<string> {
  const found = process.env.CHROMIUM_PATH ?? (await onPath())
  if (found) return found
  if (process.getuid?.() === 0 && (await which('apt-get')))
    return retry(installChromium, { attempts: 5, baseMs: 10_000 }) // another file's tests may be installing it
  assert.fail(NO_BROWSER)
}

async function installChromium(): Promise<string> {
  const run = promisify(execFile)
  await run('apt-get', ['update', '-qq'])
  for (const name of ['chromium-headless-shell', 'chromium']) {
    // Older releases have only the second.
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name]).catch(() => undefined)
    const installed = await onPath()
    if (installed) return installed
  }
  assert.fail(NO_BROWSER)
}

async function onPath(): Promise<string | undefined> {
  for (const name of BROWSERS) {
    const found = await which(name)
    if (found) return found
  }
  return undefined
}

const NOTE_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy: ' + violatedDirective + ' ' + blockedURI))`

/** A page, and what it complained about. */
export type Watched = { page: Page; complaints: string[]; close(): Promise<void> }

/** Opens a page that notes violations of the policy, errors, and requests that leave its origin. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ baseURL: url, locale: 'en-GB', reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(scaledTimeout(15_000))
  await context.addInitScript(NOTE_VIOLATIONS)
  const page = await context.newPage()
  const complaints: string[] = []
  const open = new Set<Request>()
  openRequests.set(page, open)
  page.on('console', message => {
    // The browser itself notes each refusal of the API; what the page makes of it is what counts.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('request', request => {
    open.add(request)
    const target = new URL(request.url())
    if (/^https?:$/.test(target.protocol) && target.origin !== url) complaints.push(`request to ${target.origin}`)
  })
  page.on('requestfinished', request => open.delete(request))
  page.on('requestfailed', request => open.delete(request))
  return { page, complaints, close: () => context.close() }
}

/** Where nothing is, not even a script. It answers with the opener policy of the console: another would end the process. */
const NOWHERE = '/console/assets/nothing'

/** Pages of one origin. */
export type Pages = {
  /** Returns a page without cookies and storage. */
  take(): Promise<Page>
  /** Takes back all pages. Fails if they complained. */
  takeBack(): Promise<void>
}

/** Returns pages that are used again: a new one has a new process, which has to compile all scripts. */
export function createPages(browser: Browser, url: string, options: BrowserContextOptions = {}): Pages {
  const taken: Watched[] = []
  const idle: Watched[] = []
  return {
    async take() {
      const watched = idle.pop() ?? (await openPage(browser, url, options))
      taken.push(watched)
      return watched.page
    },
    async takeBack() {
      const complaints: string[] = []
      for (const watched of taken.splice(0)) {
        complaints.push(...watched.complaints.splice(0))
        await forget(watched.page)
        idle.push(watched)
      }
      assert.deepEqual(complaints, [])
    },
  }
}

/** Removes what a page was given. Its storage is cleared where no script could write it again. */
async function forget(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.goto(NOWHERE)
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await page.context().clearCookies()
}

/** The requests of watched pages that have no answer yet. */
const openRequests = new WeakMap<Page, Set<Request>>()
/** React shows what was loaded up to 300 ms after its placeholder. */
const QUIET_MS = 350
const UNCHANGED = `new Promise(resolve => {
  const isUnchanged = () => { observer.disconnect(); resolve() }
  let timer = setTimeout(isUnchanged, ${QUIET_MS})
  const observer = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(isUnchanged, ${QUIET_MS}) })
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
})`

/** Waits until a watched page has its answers and no longer changes. */
export async function settle(page: Page): Promise<void> {
  do await page.evaluate(UNCHANGED)
  while (openRequests.get(page)!.size > 0)
}

const TRANSITIONS = `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => Promise.all(
  document.getAnimations().filter(one => one instanceof CSSTransition).map(({ finished }) => finished.catch(() => {})),
)).then(() => undefined)`

/** Returns what axe finds on the page or in a part of it, by one rule or all of them. Injects axe once per document. */
export async function violationsOf(page: Page, where: string, rule?: string, within?: string): Promise<string[]> {
  await page.evaluate(TRANSITIONS) // colours in a transition are neither the old nor the new ones
  if (!(await page.evaluate('Boolean(window.axe)'))) await page.evaluate(axe.source)
  const options: RunOptions = {
    runOnly: rule ? { type: 'rule', values: [rule] } : { type: 'tag', values: RULES },
    resultTypes: ['violations'],
  }
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify(within) ?? 'document'}, ${JSON.stringify(options)})`,
  )) as AxeResults
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${where}: ${id}: ${html} ${failureSummary}`),
  )
}
