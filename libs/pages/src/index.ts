export { formOf } from './form.ts'
export { type Html, html } from './html.ts'
export { type Language, notFoundPage, type PageContent, redirectTo, renderPage } from './page.ts'
