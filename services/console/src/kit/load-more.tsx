import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { ProblemAlert } from './problem-alert.tsx'
import type { useLoadMore } from './use-load-more.ts'

/** The end of a list that goes on: a button that reads the next part, or why that did not work. */
export function LoadMore({
  more: { hasNextPage, fetchNextPage, isFetchingNextPage, error },
}: Pick<ReturnType<typeof useLoadMore>, 'more'>) {
  const { t } = useTranslation()
  if (error) return <ProblemAlert error={error} onRetry={fetchNextPage} />
  if (!hasNextPage) return null
  return (
    <div>
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {t('kit.loadMore')}
      </Button>
    </div>
  )
}
