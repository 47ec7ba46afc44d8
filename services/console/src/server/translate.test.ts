import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { errorTexts } from '@rollcall/sdk/error-texts'
import { serverTexts } from './de.ts'
import { createTranslate } from './translate.ts'

const REPOSITORY = join(import.meta.dirname, '../../../..')
const translate = createTranslate(serverTexts)

describe('the texts of the server in German', () => {
  it('are found with their details, and with the reasons within them', () => {
    for (const [text, expected] of [
      ['the list is archived', 'Die Liste ist archiviert'],
      ['invalid field -> name: at most 40 characters', 'Höchstens 40 Zeichen'],
      ['invalid field -> lists.0: unknown list', 'Diese Liste gibt es nicht'],
      ['limit reached: 100 domains per organization', 'Grenze erreicht: 100 Domains je Organisation'],
      ['a campaign that is draft cannot be paused', 'Eine Kampagne, die ein Entwurf ist, kann nicht angehalten werden'],
      ['The sender cannot be used: it is not active.', 'Der Absender lässt sich nicht verwenden: Er ist nicht aktiv.'],
      ['the campaign "sent" uses the list', 'Die Kampagne „sent“ benutzt die Liste'],
      [
        'html: the unsubscribe link is missing, add {{ unsubscribe_url }}',
        'html: Der Abmeldelink fehlt, fügen Sie {{ unsubscribe_url }} ein',
      ],
      [
        'the name servers of example.com (a.example.net, b.example.net) did not answer in time, try again later',
        'Die Nameserver von example.com (a.example.net, b.example.net) antworteten nicht rechtzeitig, versuchen Sie es später erneut',
      ],
      [
        'SPF (TXT example.com): not found; DKIM (TXT k1._domainkey.example.com): another value is published there',
        'SPF (TXT example.com): Nicht gefunden; DKIM (TXT k1._domainkey.example.com): Dort steht ein anderer Wert',
      ],
    ] as const)
      assert.equal(translate(text), expected)
  })

  it('leave what others say as it is', () =>
    assert.equal(translate('550 5.1.1 no such user here; try another'), undefined))

  it('name no detail that the English text does not have', () => {
    const detailsOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const pairs = [
      ...Object.entries(serverTexts.errors).map(([code, to]) => [errorTexts[code as keyof typeof errorTexts], to]),
      ...Object.entries(serverTexts.phrases),
    ]
    for (const [from, to] of pairs)
      assert.deepEqual(
        detailsOf(to!).filter(name => !detailsOf(from!).includes(name)),
        [],
        to,
      )
  })

  it('belong to texts that the services have', () => {
    const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: REPOSITORY }).filter(
      name => !name.startsWith('services/console') && !name.endsWith('.test.ts'),
    )
    assert.ok(files.length > 400)
    const sources = files.map(name => readFileSync(join(REPOSITORY, name), 'utf8')).join('\n')
    const isKnown = (phrase: string) =>
      phrase
        .split(/\{\w+\}/)
        .every(part => sources.includes(part.trim()) || sources.includes(part.trim().replace(/s$/, '')))
    assert.deepEqual(
      Object.keys(serverTexts.phrases).filter(phrase => !isKnown(phrase)),
      [],
    )
  })
})
