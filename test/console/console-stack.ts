import { builtConsole } from '@rollcall/local'
import type { Browser, Page } from 'playwright-core'
import { type Api, bodyOf } from '../api.ts'
import { toolsCache } from '../chart/tools.ts'
import { fromElsewhere, manyAddresses, nextAddress } from '../every-route.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { createPages, launchBrowser } from './browser.ts'

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
  /** Takes back the pages that a test opened, and fails if they complained: of the policy, of errors, of foreign requests. */
  closePages(): Promise<void>
  /** Returns the session of an account. */
  signIn(account: { email: string; password: string }): Promise<string>
  stop(): Promise<void>
}

/** Starts the product with its console. */
export async function startConsole(settings: Record<string, string> = {}): Promise<ConsoleStack> {
  const CONSOLE_DIR = await builtConsole(toolsCache())
  const stack = await startStack({ settings: { CONSOLE_DIR, ...manyAddresses, ...settings } })
  const browser = await launchBrowser()
  const url = stack.urls[0]!
  const sessionOf = async (api: Api, account: { email: string; password: string }) =>
    (await bodyOf(api.post<{ token: string }>('/api/auth/login', account))).token
  const own = await sessionOf(stack.api, OWNER)
  const pages = createPages(browser, url)
  return {
    stack,
    browser,
    url,
    token: own,
    signIn: account => sessionOf(fromElsewhere(stack.api), account),
    async open(path, { scheme = 'light', width = 1280, token = own } = {}) {
      const page = await pages.take()
      await page.setExtraHTTPHeaders({ 'x-forwarded-for': nextAddress() })
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      if (token) await page.context().addCookies([{ name: 'auth_token', value: token, url }])
      await page.goto(`/console${path}`)
      return page
    },
    closePages: () => pages.takeBack(),
    async stop() {
      await browser.close()
      await stack.stop()
    },
  }
}

/** Leads a page to another path of the console without a new document, as links within it do. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`)
}
