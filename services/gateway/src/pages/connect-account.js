// Finishes connecting a mail account with the code of its provider, in the session of this browser.

const providers = { google: 'Google', microsoft: 'Microsoft' }
const query = new URLSearchParams(location.search)
const provider = query.get('provider') ?? ''
const isKnown = Object.hasOwn(providers, provider)
const name = isKnown ? providers[provider] : 'The provider'
const answer = { code: query.get('code'), state: query.get('state'), iss: query.get('iss') ?? undefined }
const path = `/api/emails/senders/oauth/${encodeURIComponent(provider)}/finish`
// Removes the code from the address bar and the history.
history.replaceState(null, '', location.pathname)

const element = id => document.getElementById(id)

/** Shows a result and the next step. */
function show(state, title, text, { canRetry = false, canUseApi = false } = {}) {
  document.querySelector('main').dataset.state = state
  document.title = `${title} · Rollcall`
  element('title').textContent = title
  element('text').textContent = text
  element('retry').hidden = !canRetry
  element('api').hidden = !canUseApi
  element('request').textContent =
    `POST ${location.origin}${path}\nContent-Type: application/json\n\n${JSON.stringify(answer, null, 2)}`
}

async function finish() {
  show('busy', 'Connecting the mail account …', 'This takes a few seconds.')
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(answer),
    })
    const body = response.status === 401 ? {} : await response.json()
    showResult(response.status, String(body.message ?? ''))
  } catch {
    showUnreachable()
  }
}

function showResult(status, message) {
  if (status === 200) {
    show('done', 'The account is connected', 'The sender can send from now on. You can close this window.')
  } else if (status === 401) {
    const text =
      'Sign in here, in the session that began to connect the account, and try again. Or finish with the API.'
    show('failed', 'You are not signed in in this browser', text, { canRetry: true, canUseApi: true })
  } else if (status === 403) {
    show('failed', 'This is another session', message, { canUseApi: true })
  } else if (status === 429 || status === 503) {
    showUnreachable()
  } else {
    show('failed', 'The account is not connected', message)
  }
}

function showUnreachable() {
  show('failed', 'The server cannot be reached', 'Wait a moment and try again.', { canRetry: true, canUseApi: true })
}

element('retry').addEventListener('click', finish)
if (query.has('error')) {
  const reason = query.get('error_description') || query.get('error')
  show('failed', 'The account is not connected', `${name} answered: ${reason.slice(0, 300)}`)
} else if (!isKnown || !answer.code || !answer.state) {
  show('failed', 'There is nothing to finish here', 'Begin with the sender that the account is for.')
} else {
  finish()
}
