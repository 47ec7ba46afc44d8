import { messageFields as declared, type MessageJson } from '@rollcall/protos/gen/messaging-v1.ts'
import { type FieldTable, presenter } from '@rollcall/store'
import type { Mail } from '../mail/mail.model.ts'

/** The public fields of a message. */
export const messageFields: FieldTable = {
  ...declared,
  contact: 'string', // stored as text
  events: { type: 'object[]', path: 'steps' },
  'events.type': { type: 'string', path: 'steps.type' },
  'events.at': { type: 'date', path: 'steps.at' },
  'events.detail': { type: 'string', path: 'steps.detail' },
}

const absent = { sendAt: null, sentAt: null, steps: [], campaign: null }

const present = presenter<MessageJson>(messageFields)

/** Returns a message as the API shows it. Records of former releases lack some fields. */
export function publicMessage(mail: Mail): MessageJson {
  return present({ ...absent, ...mail })
}
