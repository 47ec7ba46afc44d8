export { type Content, compile, hasUnsubscribeLink, type Mail, render, type Template } from './content.ts'
export { type ContentField, MAX_OUTPUT_BYTES, TemplateError } from './limits.ts'
export { type MailVariables, sampleContact } from './variables.ts'
