import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deliveryReport, feedbackReport } from '../../test/reports.ts'
import { type Report, readReport } from './read-report.ts'

const read = (mail: string) => readReport(Buffer.from(mail))
const delivery = (fields: string) => read(deliveryReport(fields))
const bounced = (detail: string, isBadAddress: boolean): Report => ({ kind: 'bounced', detail, isBadAddress })

describe('reports of deliveries', () => {
  it('tell whether the address itself was rejected', async () => {
    const cases: [fields: string, detail: string, isBadAddress: boolean][] = [
      ['Action: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user', '550 5.1.1 no such user', true],
      ['Action: failed\nStatus: 5.1.10', '5.1.10', true],
      ['Action: failed\nStatus: 5.2.1 (disabled)', '5.2.1 (disabled)', true],
      ['Action: Failed\nStatus: 5.0.0\nDiagnostic-Code: SMTP;\n 550 No such\n user', '550 No such user', true],
      ['Action: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 full', '552 full', false],
      ['Action: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 554 5.7.1 spam', '554 5.7.1 spam', false],
      ['Action: failed\nStatus: 5.1.8\nDiagnostic-Code: smtp; 550 5.1.8 bad sender', '550 5.1.8 bad sender', false],
      ['Action: failed\nStatus: 4.4.7', '4.4.7', false],
      ['Action: failed', 'failed', false],
    ]
    for (const [fields, detail, isBadAddress] of cases)
      assert.deepEqual(await delivery(fields), bounced(detail, isBadAddress), fields)
  })

  it('tell of delays and deliveries; the worst of several counts', async () => {
    assert.equal((await delivery('Action: delayed\nStatus: 4.2.0'))?.kind, 'delayed')
    assert.equal((await delivery('Action: delivered\nStatus: 2.0.0'))?.kind, 'delivered')
    const both = await delivery('Action: delivered\nStatus: 2.0.0\n\nAction: failed\nStatus: 5.1.1')
    assert.deepEqual(both, bounced('5.1.1', true))
  })

  it('tell nothing by other actions, and of what is not complete', async () => {
    for (const fields of ['Action: relayed', 'Action: expanded', 'Status: 5.1.1', '', ': : :'])
      assert.equal(await delivery(fields), undefined, fields)
  })

  it('show replies on one line of limited length', async () => {
    const report = await delivery(`Action: failed\nDiagnostic-Code: smtp; 550 a\u0007b${'x'.repeat(5000)}`)
    assert.match(report?.detail ?? '', /^550 a bx{900,}$/)
    assert.equal(report?.detail.length, 1000)
  })

  it('are read from mails of which the end is cut off', async () => {
    const mail = deliveryReport('Action: failed\nStatus: 5.1.1')
    const cut = mail.slice(0, mail.indexOf('Subject: News'))
    assert.deepEqual(await read(cut), bounced('5.1.1', true))
  })
})

describe('complaints', () => {
  it('count where a recipient objects', async () => {
    const expected = { kind: 'complained', detail: 'abuse', isBadAddress: false }
    assert.deepEqual(await read(feedbackReport('abuse')), expected)
    assert.equal((await read(feedbackReport('Fraud')))?.detail, 'fraud')
    for (const type of ['not-spam', 'auth-failure', 'virus', ''])
      assert.equal(await read(feedbackReport(type)), undefined)
  })
})

describe('other mails', () => {
  it('report nothing', async () => {
    const nested = (depth: number): string =>
      depth === 0
        ? 'Content-Type: message/delivery-status\r\n\r\nAction: failed\r\n'
        : `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${nested(depth - 1)}\r\n--b${depth}--`
    const mails = [
      '',
      'Subject: I am away\r\n\r\nAction: failed\r\nStatus: 5.1.1',
      nested(30),
      `X: ${'x'.repeat(100_000)}\r\n\r\n`,
      '\0\xff'.repeat(1000),
    ]
    for (const mail of mails) assert.equal(await read(mail), undefined, mail.slice(0, 40))
  })
})
