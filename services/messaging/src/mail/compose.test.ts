import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { compose } from './compose.ts'

const message = {
  messageId: '<1@example.com>',
  date: new Date(0),
  from: { name: 'Sender One', address: 'sender@example.com' },
  replyTo: null,
  to: 'contact@example.com',
  subject: 'Subject',
  text: 'Text',
  html: null,
}
const composed = async (more: object) => (await compose({ ...message, ...more })).raw.toString()

describe('a mail', () => {
  it('has its envelope, its Message-ID and its date', async () => {
    const { from, to, raw } = await compose({ ...message, replyTo: 'answers@example.com' })
    assert.deepEqual([from, to], ['sender@example.com', 'contact@example.com'])
    for (const line of [
      'From: Sender One <sender@example.com>',
      'To: contact@example.com',
      'Reply-To: answers@example.com',
      'Subject: Subject',
      'Message-ID: <1@example.com>',
      'Date: Thu, 01 Jan 1970 00:00:00 +0000',
    ]) {
      assert.ok(raw.toString().split('\r\n').includes(line), line)
    }
  })

  it('encodes what is not ASCII, and lines that are too long for some servers', async () => {
    assert.match(await composed({ text: 'Zoë' }), /quoted-printable[\s\S]*Zo=C3=AB/)
    const lines = (await composed({ text: 'x'.repeat(2000) })).split('\r\n')
    assert.ok(lines.every(line => line.length <= 998))
  })

  it('allows no header injection by a name, a subject or an address', async () => {
    const evil = 'X\r\nBcc: victim@example.com\r\n\r\nBody'
    const raw = await composed({
      subject: evil,
      from: { name: evil, address: 'sender@example.com' },
      to: `a@example.com\r\nBcc: v@example.com`,
    })
    assert.ok(!/^Bcc:/im.test(raw))
  })

  it('is signed with the headers of unsubscribing by one click', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const headers = {
      'List-Unsubscribe': '<https://mail.example.com/u/token>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }
    const { raw } = await compose({ ...message, headers }, { domainName: 'example.com', keySelector: 'k1', privateKey })
    const unfolded = raw.toString().replace(/\r\n[ \t]+/g, '')
    const [, signed = ''] = /^DKIM-Signature:.*?;h=([^;]*);/im.exec(unfolded.replace(/ /g, '')) ?? []
    const names = signed.toLowerCase().split(':')
    for (const name of ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post'])
      assert.ok(names.includes(name), `${name} is not in ${signed}`)
    assert.match(raw.toString(), /^List-Unsubscribe: <https:\/\/mail\.example\.com\/u\/token>\r$/m)
    assert.match(raw.toString(), /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  })

  it('has its HTML beside the text', async () => {
    const raw = await composed({ html: '<b>Text</b>' })
    assert.match(raw, /multipart\/alternative[\s\S]*text\/plain[\s\S]*text\/html/)
  })
})
