import { useEffect } from 'react'

/** Ids of the jobs that something shows at the moment: nobody else needs to say that they are finished. */
export const followed = new Set<string>()

/** Keeps others from saying that a job is finished while the caller shows it. */
export function useFollowed(id: string | undefined): void {
  useEffect(() => {
    if (!id) return
    followed.add(id)
    return () => void followed.delete(id)
  }, [id])
}
