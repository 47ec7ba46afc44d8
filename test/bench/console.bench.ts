// C1: the contacts of a large organization in a real browser, from the click on Sign in until they can be worked with.
// BENCH_CONTACTS sets their number.
import { builtConsole } from '@rollcall/local'
import { MongoClient } from 'mongodb'
import { toolsCache } from '../chart/tools.ts'
import { launchBrowser, openPage } from '../console/browser.ts'
import { manyAddresses } from '../every-route.ts'
import { organizationSettings } from '../import/organizations.ts'
import { startStack } from '../stack.ts'
import { fill } from './audience.bench.ts'
import { columnsWritten } from './filters.bench.ts'
import { type Figure, median } from './measure.ts'

const contactCount = Number(process.env.BENCH_CONTACTS ?? 1_000_000)
const LIMIT_MS = 1000
const ROUNDS = 5
/** The owner of the first organization that `fill` registers. */
const OWNER = { email: 'owner1@example.com', password: 'made for tests only' }

/** Measures the first look at the contacts. Each round begins with an empty cache. */
export async function run(): Promise<Figure[]> {
  const CONSOLE_DIR = await builtConsole(toolsCache())
  const settings = { ...organizationSettings, ...manyAddresses, CONSOLE_DIR }
  const stack = await startStack({ processes: true, settings })
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  const browser = await launchBrowser()
  try {
    const db = mongo.db(`${stack.namespace}rollcall_audience`)
    await fill(stack, db, contactCount)
    await columnsWritten(db, contactCount)
    const times: number[] = []
    for (let round = 0; round <= ROUNDS; round++) times.push(await signInToContacts(stack.urls[0]!))
    const ms = median(times.slice(1)) // the first one warms the services
    const name = `C1 contacts of ${contactCount} in the console, from sign-in to usable`
    return [{ name, measured: `${Math.round(ms)} ms`, goal: `≤ ${LIMIT_MS} ms`, ok: ms <= LIMIT_MS }]
  } finally {
    await browser.close()
    await mongo.close()
    await stack.stop()
  }

  async function signInToContacts(url: string): Promise<number> {
    const { page, close } = await openPage(browser, url)
    await page.goto('/console/contacts')
    await page.getByLabel('Email').fill(OWNER.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
    const startedAt = performance.now()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('searchbox').waitFor()
    await page.getByRole('cell').getByRole('link').first().waitFor()
    const ms = performance.now() - startedAt
    await close()
    return ms
  }
}
