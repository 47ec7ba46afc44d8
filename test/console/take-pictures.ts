import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '@rollcall/sdk'
import type { Page } from 'playwright-core'
import { toolsCache } from '../chart/tools.ts'
import { launchBrowser } from './browser.ts'
import { nameOf, OVERLAY, OVERLAYS, pathOf, SCREENS } from './screens.ts'

const USAGE = `npm run screens -- --password PASSWORD [options] [WORD...]

Takes pictures of the screens of a running console, in both colour schemes, into the cache folder.
Only those whose path contains one of the words, if any are given.

  --url URL            address of the console's server (http://localhost:8080)
  --email EMAIL        account to sign in with (owner@rollcall.test)
  --widths WIDTHS      widths in pixels, separated by commas (390,1280,1600)
  --schemes SCHEMES    light, dark or both (light,dark)
  --language LANGUAGE  en or de (en)
  --overlays           dialogs and menus instead of screens, in English
  --out FOLDER         folder of the pictures
`
const HEIGHT = 800

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: 'http://localhost:8080' },
    email: { type: 'string', default: 'owner@rollcall.test' },
    password: { type: 'string' },
    widths: { type: 'string', default: '390,1280,1600' },
    schemes: { type: 'string', default: 'light,dark' },
    language: { type: 'string', default: 'en' },
    overlays: { type: 'boolean', default: false },
    out: { type: 'string', default: join(toolsCache().dir, 'screens') },
  },
})

/** Waits until everything is read and drawn. */
async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
}

if (values.password === undefined) {
  process.stderr.write(USAGE)
  process.exit(2)
}
const { url, email, password, out } = values
const { token } = (await createClient({ baseUrl: url }).authentication.login({ email, password })) as { token: string }
const client = createClient({ baseUrl: url, token })
const isWanted = (text: string) => positionals.length === 0 || positionals.some(word => text.includes(word))
const screens = values.overlays ? [] : SCREENS.filter(({ path }) => isWanted(path))
const overlays = values.overlays ? OVERLAYS.filter(({ name }) => isWanted(name)) : []
const browser = await launchBrowser()
try {
  for (const scheme of values.schemes.split(',') as ('light' | 'dark')[])
    for (const width of values.widths.split(',').map(Number)) {
      const folder = join(out, `${scheme}-${width}-${values.language}`)
      await mkdir(folder, { recursive: true })
      const context = await browser.newContext({
        baseURL: url,
        viewport: { width, height: HEIGHT },
        colorScheme: scheme,
        locale: values.language,
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      for (const screen of screens) {
        const path = await pathOf(screen, client)
        if (!path) continue
        if (screen.isPublic) await context.clearCookies()
        else await context.addCookies([{ name: 'auth_token', value: token, url }])
        await page.goto(`/console${path}`)
        await settle(page)
        await page.screenshot({ path: join(folder, `${nameOf(screen)}.png`), fullPage: true })
      }
      for (const overlay of overlays) {
        await context.addCookies([{ name: 'auth_token', value: token, url }])
        await page.goto(`/console${await pathOf(overlay, client)}`)
        await settle(page)
        await overlay.open?.(page)
        await page.locator(OVERLAY).first().waitFor()
        await page.waitForLoadState('networkidle')
        await page.screenshot({ path: join(folder, `${overlay.name}.png`) })
      }
      await context.close()
      process.stdout.write(`${folder}\n`)
    }
} finally {
  await browser.close()
}
