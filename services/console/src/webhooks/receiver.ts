/** A receiver that checks signatures, with the library of Standard Webhooks. */
export const RECEIVER = `import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)

/** Returns the event. Throws if the body was not signed by Rollcall, or long ago. */
export function receive(body, headers) {
  return webhook.verify(body, headers)
}`
