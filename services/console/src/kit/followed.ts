import { useEffect, useRef } from 'react'

/** Ids of the jobs that something shows at the moment, or whose end it showed: nobody else needs to say that they ended. */
export const followed = new Set<string>()

/** Keeps others from saying that a job has ended: while the caller shows it, and afterwards if the caller showed the end. */
export function useFollowed(id: string | undefined, hasEnded: boolean): void {
  const sawEnd = useRef(false)
  useEffect(() => {
    sawEnd.current = hasEnded
  }, [hasEnded])
  useEffect(() => {
    if (!id) return
    followed.add(id)
    return () => {
      if (!sawEnd.current) followed.delete(id)
    }
  }, [id])
}
