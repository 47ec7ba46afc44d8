import type { PageRequest } from '@rollcall/protos/gen/types.ts'
import { isbot } from 'isbot'

/** Faster than anybody reads: programs that check a mail on its arrival. */
const READING_MS = 2_000
/** They load images when a person opens the mail, and look like programs. */
const READERS = /GoogleImageProxy|YahooMailProxy|Microsoft Office|ms-office|MSOffice/i

/** What is known of a request of a counted link. */
type Visit = { request: Pick<PageRequest, 'isHead' | 'isPrefetch'>; userAgent: string; sentAt: Date | null; now: Date }

/** Whether a program opened a link, such as a scanner or a prefetching browser. */
export function isMachine({ request, userAgent, sentAt, now }: Visit): boolean {
  const isEarly = sentAt === null || now.getTime() - sentAt.getTime() < READING_MS
  return request.isHead || request.isPrefetch || isEarly || (isbot(userAgent) && !READERS.test(userAgent))
}
