import assert from 'node:assert/strict'
import { builtConsole } from '@rollcall/local'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { bodyOf } from '../api.ts'
import { toolsCache } from '../chart/tools.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { launchBrowser, newContext, type Watched, watchPage } from './browser.ts'

/** How a page of the console is opened: by default as the owner, light, on a laptop. */
export type Opening = { scheme?: 'light' | 'dark'; width?: number; token?: string | null }

/** The product with its console, and a browser. */
export type ConsoleStack = {
  stack: TestStack
  browser: Browser
  url: string
  /** The owner's session. */
  token: string
  /** Opens a page of the console. A token of null is nobody's session. */
  open(path: string, options?: Opening): Promise<Page>
  /** Closes the pages that a test opened, and fails if they complained: of the policy, of errors, of foreign requests. */
  closePages(): Promise<void>
  /** Returns the session of an account. */
  signIn(account: { email: string; password: string }): Promise<string>
  stop(): Promise<void>
}

/** Starts the product with its console. */
export async function startConsole(settings: Record<string, string> = {}): Promise<ConsoleStack> {
  const CONSOLE_DIR = await builtConsole(toolsCache())
  const stack = await startStack({ settings: { CONSOLE_DIR, ...settings } })
  const browser = await launchBrowser()
  const url = stack.urls[0]!
  const signIn: ConsoleStack['signIn'] = async account =>
    (await bodyOf(stack.api.post<{ token: string }>('/api/auth/login', account))).token
  const own = await signIn(OWNER)
  const opened: Watched[] = []
  /** Contexts of pages that were closed: their caches have the files of the console. */
  const idle: BrowserContext[] = []
  return {
    stack,
    browser,
    url,
    token: own,
    signIn,
    async open(path, { scheme = 'light', width = 1280, token = own } = {}) {
      const watched = await watchPage(idle.pop() ?? (await newContext(browser, url)), url)
      opened.push(watched)
      const { page } = watched
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      if (token) await page.context().addCookies([{ name: 'auth_token', value: token, url }])
      await page.goto(`/console${path}`)
      return page
    },
    async closePages() {
      const complaints = opened.flatMap(watched => watched.complaints)
      for (const { page, close } of opened.splice(0)) {
        const context = page.context()
        await page.evaluate('localStorage.clear(); sessionStorage.clear()')
        await close()
        await context.clearCookies()
        idle.push(context)
      }
      assert.deepEqual(complaints, [])
    },
    async stop() {
      await browser.close()
      await stack.stop()
    },
  }
}
