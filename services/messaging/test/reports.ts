/** Returns a delivery report (RFC 3464), with fields of its recipients; groups of them are separated by blank lines. */
export function deliveryReport(fields: string): string {
  const status = `Reporting-MTA: dns; mx.example.com\n\nFinal-Recipient: rfc822; reader@example.com\n${fields}\n`
  return reportOf('delivery-status', 'message/delivery-status', status)
}

/** Returns a complaint (RFC 5965) of a type. */
export function feedbackReport(type: string): string {
  const fields = `Feedback-Type: ${type}\nUser-Agent: Example/1\nVersion: 1\n`
  return reportOf('feedback-report', 'message/feedback-report', fields)
}

function reportOf(type: string, partType: string, part: string): string {
  const lines = `From: MAILER-DAEMON@mx.example.com
Subject: Report
MIME-Version: 1.0
Content-Type: multipart/report; report-type=${type}; boundary="part"

--part
Content-Type: text/plain

A report for people.
--part
Content-Type: ${partType}

${part}
--part
Content-Type: message/rfc822

Subject: News

Hello
--part--
`
  return lines.replaceAll('\n', '\r\n')
}
