import { type Html, html, type Language, renderPage } from '@rollcall/pages'
import type { Preferences, PreferredList } from '@rollcall/protos/gen/audience-v1.ts'
import type { PageResponse } from '@rollcall/protos/gen/types.ts'

/** What was just done, and the lists that were left with it. */
export type Done = { kind: 'unsubscribed' | 'resubscribed' } | { kind: 'saved'; left: readonly PreferredList[] }

const texts = {
  en: {
    title: 'Email preferences',
    of: 'Preferences of',
    subscribed: 'You get our newsletters.',
    out: 'You get no newsletters from us.',
    unsubscribed: 'You are unsubscribed.',
    resubscribed: 'You are subscribed again.',
    saved: 'Your lists are saved.',
    all: 'Unsubscribe from everything',
    again: 'Subscribe again',
    lists: 'Lists that you are on',
    keep: 'Clear the box of a list to leave it.',
    save: 'Save lists',
    left: 'You have left:',
    undo: 'Undo',
    test: 'This mail was a test. There is nothing to unsubscribe from.',
  },
  de: {
    title: 'E-Mail-Einstellungen',
    of: 'Einstellungen für',
    subscribed: 'Sie erhalten unsere Newsletter.',
    out: 'Sie erhalten keine Newsletter von uns.',
    unsubscribed: 'Sie sind abgemeldet.',
    resubscribed: 'Sie sind wieder angemeldet.',
    saved: 'Ihre Listen sind gespeichert.',
    all: 'Von allem abmelden',
    again: 'Wieder anmelden',
    lists: 'Listen, auf denen Sie stehen',
    keep: 'Entfernen Sie das Häkchen einer Liste, um sie zu verlassen.',
    save: 'Listen speichern',
    left: 'Verlassen haben Sie:',
    undo: 'Rückgängig machen',
    test: 'Diese E-Mail war ein Test. Es gibt nichts abzumelden.',
  },
} as const

type Texts = (typeof texts)[Language]

/** Returns the page of a recipient's preferences. It works without JavaScript: each button submits a form. */
export function preferencePage(language: Language, preferences: Preferences, done?: Done): PageResponse {
  const text = texts[language]
  const { email, unsubscribed, lists } = preferences
  const body = html`${done ? html`<p class="notice" role="status">${text[done.kind]}</p>` : null}
${email === '' ? null : html`<p>${text.of} <strong>${maskOf(email)}</strong></p>`}
<p>${unsubscribed ? text.out : text.subscribed}</p>
${done?.kind === 'saved' && done.left.length > 0 ? undoForm(text, done.left) : null}
${lists.length > 0 ? listForm(text, lists) : null}
${email === '' ? null : optForm(text, unsubscribed)}`
  return renderPage({ language, title: text.title, body })
}

/** Returns the page of a test mail's link. */
export function testPage(language: Language): PageResponse {
  const { title, test } = texts[language]
  return renderPage({ language, title, body: html`<p>${test}</p>` })
}

function optForm({ all, again }: Texts, unsubscribed: boolean): Html {
  return unsubscribed
    ? html`<form method="post"><button name="action" value="resubscribe">${again}</button></form>`
    : html`<form method="post"><button name="action" value="unsubscribe">${all}</button></form>`
}

/** The form names the lists that it shows: others that the contact comes onto meanwhile are kept. */
function listForm({ lists: legend, keep, save }: Texts, lists: readonly PreferredList[]): Html {
  const boxes = lists.map(
    ({ id, name }) => html`<input type="hidden" name="shown" value="${id}">
<label><input type="checkbox" name="list" value="${id}" checked> ${name}</label>`,
  )
  return html`<form method="post">
<fieldset>
<legend>${legend}</legend>
<p id="keep">${keep}</p>
${boxes}
</fieldset>
<p><button class="secondary" name="action" value="save" aria-describedby="keep">${save}</button></p>
</form>`
}

function undoForm({ left: heading, undo }: Texts, left: readonly PreferredList[]): Html {
  return html`<form method="post">
<p>${heading} ${left.map(({ name }) => name).join(', ')}</p>
${left.map(({ id }) => html`<input type="hidden" name="list" value="${id}">`)}
<p><button class="secondary" name="action" value="rejoin">${undo}</button></p>
</form>`
}

/** Returns an address that its owner recognizes, and others cannot use: a…@example.com. */
function maskOf(email: string): string {
  const at = email.lastIndexOf('@')
  const [first = ''] = email
  return `${first}…${email.slice(at)}`
}
