// The pages can be read without this script. It copies code, remembers choices, and finds operations.
const root = document.documentElement

function remembered(name, fallback) {
  try {
    return localStorage.getItem(`reference.${name}`) ?? fallback
  } catch {
    return fallback
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(`reference.${name}`, value)
  } catch {}
}

// Before the page is drawn, so that it does not change afterwards.
root.dataset.scheme = remembered('scheme', '')
root.dataset.language = remembered('language', 'curl')

document.addEventListener('DOMContentLoaded', () => {
  for (const element of document.querySelectorAll('[hidden]')) element.hidden = false
  for (const name of ['scheme', 'language']) addChoice(name)
  // Pages by plain http have no clipboard.
  if (navigator.clipboard) for (const figure of document.querySelectorAll('figure.code')) addCopyButton(figure)
  addMenu()
  addFind()
})

function addChoice(name) {
  const select = document.getElementById(name)
  select.value = root.dataset[name]
  select.addEventListener('change', () => {
    root.dataset[name] = select.value
    remember(name, select.value)
  })
}

function addCopyButton(figure) {
  const button = document.createElement('button')
  const title = figure.querySelector('figcaption').textContent
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy ${title}`)
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(figure.querySelector('code').textContent)
    document.querySelector('.spoken').textContent = `${title} copied`
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  figure.querySelector('figcaption').append(button)
}

function addMenu() {
  const button = document.querySelector('.menu')
  const navigation = document.getElementById('navigation')
  navigation.classList.add('folded')
  const show = isShown => {
    button.setAttribute('aria-expanded', String(isShown))
    navigation.classList.toggle('folded', !isShown)
  }
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') !== 'true'))
  navigation.addEventListener('click', ({ target }) => target.closest('a') && show(false))
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || button.getAttribute('aria-expanded') !== 'true') return
    show(false)
    button.focus()
  })
}

function addFind() {
  const input = document.getElementById('find')
  const groups = [...document.querySelectorAll('nav details')]
  const isOpen = groups.map(group => group.open)
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
    let found = 0
    groups.forEach((group, at) => {
      let matches = 0
      for (const item of group.querySelectorAll('li')) {
        const link = item.querySelector('a')
        const text = `${group.querySelector('summary').textContent} ${link.textContent} ${link.title}`.toLowerCase()
        item.hidden = !words.every(word => text.includes(word))
        if (!item.hidden) matches++
      }
      group.hidden = matches === 0
      group.open = words.length > 0 || isOpen[at]
      found += matches
    })
    document.querySelector('.none').textContent = words.length > 0 ? `${found} found` : ''
  })
  document.addEventListener('keydown', event => {
    const isTyping = event.target.closest('input, select, textarea')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    input.focus()
  })
}
