import type { Mail } from '../mail/mail.model.ts'
import type { MailLinks } from '../pages/mail-links.ts'
import { type Track, trackHtml } from './track-html.ts'

type Tracked = Pick<Mail, '_id' | 'organization' | 'contact' | 'campaign'>

/** Returns the HTML of a mail with what it counts; as it is if it counts nothing. */
export function tracked(links: MailLinks, mail: Tracked, html: string | null, track?: Track | null): string | null {
  if (html === null || !track || !(track.opens || track.clicks)) return html
  return trackHtml(html, {
    track,
    linkOf: url => links.clickUrl(mail, url),
    pixelUrl: links.openUrl(mail),
    ownPrefixes: links.ownPrefixes,
  })
}
