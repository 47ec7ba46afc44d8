import bowser from 'bowser'

/** Device details from a user agent; '' if unknown. */
export type Device = {
  /** Display name: `Chrome on macOS`. Never text of the user agent, so that an account has few. */
  name: string
  browser: string
  os: string
  /** desktop, mobile, tablet, tv, bot or unknown. */
  type: string
}

/** Maximum stored and parsed length of a user agent; real ones are shorter. */
export const MAX_USER_AGENT_LENGTH = 512

const KNOWN: ReadonlySet<string> = new Set(Object.values(bowser.BROWSER_MAP))

/** Parses the device from a user agent. */
export function deviceOf(userAgent: string): Device {
  const text = userAgent.slice(0, MAX_USER_AGENT_LENGTH)
  if (text === '') return { name: 'Unknown device', browser: '', os: '', type: 'unknown' }
  const { browser, os, platform } = bowser.parse(text)
  // Of a browser that it does not know, bowser returns the beginning of the text.
  const known = KNOWN.has(browser.name ?? '') ? browser : undefined
  return {
    name: os.name ? `${known?.name ?? 'Unknown browser'} on ${os.name}` : (known?.name ?? 'Unknown device'),
    browser: [known?.name, known?.version].filter(Boolean).join(' '),
    os: [os.name, os.version].filter(Boolean).join(' '),
    type: platform.type ?? 'unknown',
  }
}
