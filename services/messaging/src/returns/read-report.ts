import PostalMime from 'postal-mime'
import { isBadAddressStatus } from '../mail/enhanced-status.ts'

/** What a mail reports of a message. */
export type Report = {
  kind: 'delivered' | 'bounced' | 'delayed' | 'complained'
  /** The reply of the receiving server, or the kind of complaint. */
  detail: string
  /** With `bounced`: whether the address itself was rejected. */
  isBadAddress: boolean
}

const LIMITS = { maxNestingDepth: 10, maxRfc822NestingDepth: 0, maxHeadersSize: 64 * 1024 }
const MAX_DETAIL_LENGTH = 1000
/** Parts of delivery reports (RFC 3464, and RFC 6533 for addresses outside ASCII) and of complaints (RFC 5965). */
const DELIVERY_PARTS = ['message/delivery-status', 'message/global-delivery-status']
const COMPLAINT_PART = 'message/feedback-report'
/** Types of feedback by which a recipient objects to the mail. Others concern its authentication, or withdraw a complaint. */
const OBJECTIONS = ['abuse', 'fraud']
/** A recipient's worst action counts. Others say nothing of its mailbox. */
const ACTIONS = [
  ['failed', 'bounced'],
  ['delayed', 'delayed'],
  ['delivered', 'delivered'],
] as const

/** Returns what a mail reports; undefined if it is no delivery report and no complaint. Never rejects. */
export async function readReport(raw: Uint8Array): Promise<Report | undefined> {
  const parsed = await PostalMime.parse(raw, { ...LIMITS, forceRfc822Attachments: true }).catch(() => undefined)
  const textOf = (types: readonly string[]) => {
    const part = parsed?.attachments.find(({ mimeType }) => types.includes(mimeType.toLowerCase()))
    return part && new TextDecoder().decode(part.content as ArrayBuffer)
  }
  const delivery = textOf(DELIVERY_PARTS)
  if (delivery !== undefined) return deliveryOf(groupsOf(delivery))
  const complaint = textOf([COMPLAINT_PART])
  return complaint === undefined ? undefined : complaintOf(groupsOf(complaint))
}

type Fields = Map<string, string>

/** Returns the groups of fields of a report: blank lines separate them, and lines that begin with a space continue. */
function groupsOf(text: string): Fields[] {
  const unfolded = text.replace(/\r\n?/g, '\n').replace(/\n[ \t]+/g, ' ')
  return unfolded.split(/\n{2,}/).map(group => new Map(group.split('\n').flatMap(fieldOf)))
}

function fieldOf(line: string): [name: string, value: string][] {
  const at = line.indexOf(':')
  return at < 0 ? [] : [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()]]
}

function deliveryOf(groups: Fields[]): Report | undefined {
  for (const [action, kind] of ACTIONS) {
    const fields = groups.find(group => group.get('action')?.toLowerCase().startsWith(action))
    if (!fields) continue
    const status = fields.get('status') ?? ''
    const diagnostic = (fields.get('diagnostic-code') ?? '').replace(/^[a-z0-9-]+;\s*/i, '')
    const isBadAddress = kind === 'bounced' && rejectsAddress(status, diagnostic)
    return { kind, detail: shown(diagnostic || status || action), isBadAddress }
  }
  return undefined
}

/**
 * Whether a permanent failure rejects the address itself. The reply of the receiving server is more exact than the status
 * that another one made from it.
 */
export function rejectsAddress(status: string, diagnostic: string): boolean {
  const [, code, enhanced] = /^(5\d\d)[ -](?:(5\.\d+\.\d+)\b)?/.exec(diagnostic) ?? []
  const [reported = ''] = /^5\.\d+\.\d+/.exec(status) ?? []
  if (enhanced !== undefined) return isBadAddressStatus(enhanced)
  return isBadAddressStatus(reported) || (reported === '5.0.0' && code === '550')
}

function complaintOf(groups: Fields[]): Report | undefined {
  const type =
    groups
      .flatMap(group => group.get('feedback-type') ?? [])
      .at(0)
      ?.toLowerCase() ?? ''
  return OBJECTIONS.includes(type) ? { kind: 'complained', detail: type, isBadAddress: false } : undefined
}

/** Returns text of strangers without control characters, and not too long. */
function shown(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, MAX_DETAIL_LENGTH)
}
