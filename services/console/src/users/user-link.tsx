import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { rollcall } from '../api.ts'
import { useMissing } from '../session.ts'

/** The name of an account, with a link to its screen; the id where it is gone or may not be read. */
export function UserLink({ id }: { id: string }) {
  const missing = useMissing()
  const { data } = useQuery({
    queryKey: ['users', id],
    queryFn: ({ signal }) => rollcall.users.get(id, { signal }),
    enabled: !missing('users.get'),
  })
  if (!data) return id
  return (
    <Link to="/users/$id" params={{ id }} className="rc-link">
      {data.name}
    </Link>
  )
}
