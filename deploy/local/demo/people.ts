/** A made-up person as a row of a file. */
export type Person = {
  email: string
  name: string
  company: string
  plan: string
  city: string
  seats: number
  newsletter: boolean
  unsubscribed: boolean
  since: string
}

const FIRST = ['Alva', 'Bente', 'Ciro', 'Dara', 'Elio', 'Fenja', 'Galo', 'Hanne', 'Ilka', 'Jorin', 'Kaja', 'Levi']
const MORE = ['Maris', 'Nilo', 'Odile', 'Pia', 'Quinn', 'Runa', 'Soren', 'Tilda', 'Uwe', 'Vesna', 'Wanda', 'Yara']
const START = ['Ald', 'Berg', 'Dorn', 'Eich', 'Fal', 'Grün', 'Hol', 'Kast', 'Lind', 'Mor', 'Nor', 'Rav', 'Stor', 'Wend']
const END = ['aro', 'beck', 'berg', 'dal', 'ender', 'feld', 'hagen', 'ik', 'loe', 'mann', 'sen', 'stad', 'vik', 'wood']
const TRADE = ['Bakery', 'Boats', 'Books', 'Cycles', 'Gardens', 'Instruments', 'Lights', 'Maps', 'Optics', 'Tools']
const CITIES = ['Aarhus', 'Bergen', 'Ghent', 'Graz', 'Lyon', 'Malmö', 'Porto', 'Tartu', 'Turin', 'Utrecht']
const DOMAINS = ['example.com', 'example.net', 'example.org']
/** The browser that the people of the demonstration use. */
export const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
/** The plans that a contact may have. */
export const PLANS = ['free', 'team', 'business']
const DAY_MS = 24 * 60 * 60 * 1000
const LATEST = Date.parse('2026-06-30')
const YEARS_DAYS = 1200

/** Returns people by number, always the same: names are put together from syllables, addresses are of no company. */
export function personAt(number: number): Person {
  const pick = chooser(number)
  const name = `${pick([...FIRST, ...MORE])} ${pick(START)}${pick(END)}`
  const address = name.toLowerCase().replaceAll('ü', 'ue').replace(' ', '.')
  return {
    email: `${address}.${number}@${pick(DOMAINS)}`,
    name,
    company: `${pick(START)}${pick(END)} ${pick(TRADE)}`,
    plan: pick(PLANS),
    city: pick(CITIES),
    seats: 1 + Math.floor(pick.share() ** 3 * 200),
    newsletter: pick.share() < 0.8,
    unsubscribed: pick.share() < 0.06,
    since: new Date(LATEST - Math.floor(pick.share() ** 2 * YEARS_DAYS) * DAY_MS).toISOString().slice(0, 10),
  }
}

/** Returns a source of choices that depend on a number alone (mulberry32). */
function chooser(number: number) {
  let state = Math.imul(number + 1, 0x9e3779b1)
  const share = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <T>(from: readonly T[]): T => from[Math.floor(share() * from.length)]!
  return Object.assign(pick, { share })
}
