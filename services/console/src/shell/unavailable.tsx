import { Alert, Button, Group, Text } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { ConnectionError, UnavailableError } from '@rollcall/sdk'
import { notifyManager, type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { useProblemText } from '../kit/problem.ts'
import classes from './shell.module.css'

const FIRST_PAUSE_MS = 5000
const LONGEST_PAUSE_MS = 60_000

/** Says that the server, or a part of it, does not answer. Reads what is missing again, with growing pauses. */
export function Unavailable() {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const { reason, retry } = useUnanswered(useQueryClient())
  const [attempts, setAttempts] = useState(0)
  const isDown = reason !== undefined
  useEffect(() => {
    if (!isDown) return setAttempts(0)
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempts)
    const timer = setTimeout(() => void retry().then(() => setAttempts(attempts + 1)), pause)
    return () => clearTimeout(timer)
  }, [isDown, attempts, retry])
  if (!isDown) return null
  return (
    <Alert className={classes.notice} color="yellow" icon={<AlertIcon />} role="status" title={problemText(reason)}>
      <Group justify="space-between" gap="sm">
        <Text size="sm">{t('shell.unavailable.text')}</Text>
        <Button size="xs" variant="default" onClick={() => void retry()}>
          {t('shell.unavailable.retry')}
        </Button>
      </Group>
    </Alert>
  )
}

/** Returns why the shown queries have no answer, undefined if all have one, and how to ask again. */
function useUnanswered(client: QueryClient): { reason: Error | undefined; retry: () => Promise<void> } {
  const [reasons] = useState(() => new Map<Query, Error>()) // a query that is sent again forgets its error
  const subscribe = useCallback(
    (onChange: () => void) => {
      const note = (query: Query) => {
        const { error, fetchStatus } = query.state
        if (isUnavailable(error)) reasons.set(query, error)
        else if (fetchStatus === 'idle') reasons.delete(query)
      }
      const cache = client.getQueryCache()
      cache.getAll().forEach(note)
      return cache.subscribe(({ type, query }) => {
        if (type === 'removed') reasons.delete(query)
        else note(query)
        notifyManager.schedule(onChange)
      })
    },
    [client, reasons],
  )
  const read = () => [...reasons].find(([query]) => query.isActive())?.[1]
  const reason = useSyncExternalStore(subscribe, read)
  const retry = useCallback(
    () => client.refetchQueries({ type: 'active', predicate: query => reasons.has(query) }),
    [client, reasons],
  )
  return { reason, retry }
}

function isUnavailable(error: Error | null): error is Error {
  return error instanceof UnavailableError || error instanceof ConnectionError
}
