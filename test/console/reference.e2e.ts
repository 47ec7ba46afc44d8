import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startStack, type TestStack } from '../stack.ts'
import { createPages, launchBrowser, type Pages, violationsOf } from './browser.ts'

describe('the reference of the API', () => {
  let stack: TestStack
  let browser: Browser
  let pages: Pages
  before(async () => {
    ;[stack, browser] = await Promise.all([startStack(), launchBrowser()])
    pages = createPages(browser, stack.urls[0]!)
  })
  after(() => Promise.all([browser?.close(), stack?.stop()]))

  /** Visits a page, which must keep to its policy and its origin, and fit its window. */
  const visit = async (
    path: string,
    visitor: (page: Page) => Promise<void>,
    { width = 1280, scheme = 'light' as 'light' | 'dark' } = {},
  ) => {
    const page = await pages.take()
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.goto(path)
    await visitor(page)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, `${path} is too wide`)
    await pages.takeBack()
  }

  for (const scheme of ['light', 'dark'] as const) {
    for (const path of ['/docs', '/docs/tokens', '/docs/guides/filters'])
      it(`has nothing that axe finds on ${path}, ${scheme}`, () =>
        visit(path, async page => assert.deepEqual(await violationsOf(page, path), []), { scheme }))
  }

  it('finds an operation, and shows it in the language that was chosen', () =>
    visit('/docs', async page => {
      await page.keyboard.press('/')
      await page.keyboard.type('create cont')
      await page.getByRole('status').getByText('1 found').waitFor()
      await page.getByRole('link', { name: 'Create contact POST' }).click()
      await page.getByRole('heading', { name: 'Create contact' }).waitFor()
      const section = page.getByRole('region', { name: 'Create contact' })
      await section.getByText('curl', { exact: true }).first().waitFor()
      await page.getByLabel('Examples').selectOption('TypeScript')
      await section.getByText('rollcall.contacts.create({').waitFor()
      await page.reload()
      await section.getByText('rollcall.contacts.create({').waitFor()
      assert.equal(await section.getByText('$ROLLCALL_TOKEN').isVisible(), false)
    }))

  it('has its navigation behind a button where the window is narrow', () =>
    visit(
      '/docs/contacts',
      async page => {
        const link = page.getByRole('navigation').getByRole('link', { name: 'Lists and filters' })
        assert.equal(await link.isVisible(), false)
        await page.getByRole('button', { name: 'Menu' }).click()
        await link.click()
        await page.getByRole('heading', { name: 'Lists and filters', level: 1 }).waitFor()
      },
      { width: 320 },
    ))

  it('can be read without a script', async () => {
    const context = await browser.newContext({ baseURL: stack.urls[0]!, javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto('/docs/contacts')
    for (const text of ['"$ROLLCALL_URL/api/audience" \\', 'rollcall.contacts.create({'])
      assert.ok(await page.getByText(text).first().isVisible(), text)
    await context.close()
  })
})
