import { Text } from '@mantine/core'
import type { EventSubject } from '@rollcall/sdk'
import { Link, type LinkProps } from '@tanstack/react-router'
import { placeOf } from './subject.ts'
import { useEventWords } from './use-event-words.ts'

/** The record that an event is about, with a link to its screen if it has one. */
export function SubjectLink({ subject }: { subject: EventSubject }) {
  const { kindName } = useEventWords()
  const place = placeOf(subject)
  const name = subject.name ?? kindName(subject.kind)
  return (
    <>
      {place ? (
        <Link {...(place as LinkProps)} className="rc-link">
          {name}
        </Link>
      ) : (
        name
      )}
      {subject.name !== null && (
        <Text span size="sm" c="dimmed" ml={6}>
          {kindName(subject.kind)}
        </Text>
      )}
    </>
  )
}
