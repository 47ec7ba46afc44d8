import { once } from 'node:events'
import { connect } from 'node:net'
import { LOCALHOST } from '@rollcall/local'

/** A delivery report (RFC 3464): the address does not exist. */
export const BOUNCE = reportOf('delivery-status', 'Reporting-MTA: dns; mx.example.com\n\nAction: failed\nStatus: 5.1.1')
/** A complaint (RFC 5965): the reader calls the message spam. */
export const COMPLAINT = reportOf('feedback-report', 'Feedback-Type: abuse\nUser-Agent: Example/1\nVersion: 1')

/**
 * Sends a report to the address of a message, `b+<token>@bounce.…`, and returns the code of the reply to the recipient. A
 * connection above the limit of the second comes again.
 */
export async function returnMail(port: number, token: string, report: string): Promise<number> {
  const lines = ['EHLO x', 'MAIL FROM:<>', `RCPT TO:<b+${token}@bounce.example.org>`, 'DATA', `${report}\r\n.`, 'QUIT']
  for (;;) {
    const socket = connect(port, LOCALHOST).setEncoding('utf8')
    const codes: number[] = []
    socket.on('error', () => {})
    socket.on('data', (part: unknown) => {
      for (const [, code] of String(part).matchAll(/^(\d{3}) /gm)) {
        codes.push(Number(code))
        const next = codes.length === 4 && Number(code) !== 250 ? 'QUIT' : lines[codes.length - 1]
        if (next !== undefined) socket.write(`${next}\r\n`)
      }
    })
    await once(socket, 'close')
    if (codes.length > 3) return codes[3]!
  }
}

function reportOf(type: 'delivery-status' | 'feedback-report', fields: string): string {
  const head = `Content-Type: multipart/report; report-type=${type}; boundary=x`
  return `${head}\n\n--x\nContent-Type: message/${type}\n\n${fields}\n--x--`.replaceAll('\n', '\r\n')
}
