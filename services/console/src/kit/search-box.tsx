import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { SearchIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'

const PAUSE_MS = 250

/** Searches as one types; `/` goes to it. */
export function SearchBox({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange: (text: string) => void
}) {
  const [text, setText] = useState(value ?? '')
  const later = useDebouncedCallback(onChange, PAUSE_MS)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (document.activeElement !== input.current) setText(value ?? '')
  }, [value])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest('input, textarea, [role=dialog]')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      input.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <TextInput
      ref={input}
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<SearchIcon size={14} />}
      w={{ base: '100%', xs: 288 }}
      value={text}
      onChange={event => {
        setText(event.currentTarget.value)
        later(event.currentTarget.value)
      }}
    />
  )
}
