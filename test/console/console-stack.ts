import assert from 'node:assert/strict'
import { builtConsole } from '@rollcall/local'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { bodyOf } from '../api.ts'
import { toolsCache } from '../chart/tools.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { launchBrowser, openPage, type Watched } from './browser.ts'

/** How a page of the console is opened: by default as the owner, light, on a laptop. */
export type Opening = { scheme?: 'light' | 'dark'; width?: number; token?: string | null } & BrowserContextOptions

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
  return {
    stack,
    browser,
    url,
    token: own,
    signIn,
    async open(path, { scheme = 'light', width = 1280, token = own, ...options } = {}) {
      const viewport = { width, height: 800 }
      const watched = await openPage(browser, url, { viewport, colorScheme: scheme, ...options })
      opened.push(watched)
      if (token) await watched.page.context().addCookies([{ name: 'auth_token', value: token, url }])
      await watched.page.goto(`/console${path}`)
      return watched.page
    },
    async closePages() {
      const complaints = opened.flatMap(watched => watched.complaints)
      for (const { close } of opened.splice(0)) await close()
      assert.deepEqual(complaints, [])
    },
    async stop() {
      await browser.close()
      await stack.stop()
    },
  }
}
