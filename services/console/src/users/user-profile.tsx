import { Alert } from '@mantine/core'
import type { User } from '@rollcall/sdk'
import { ProfileForm } from '../account/profile.tsx'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { useRankRefusal } from './use-rank-refusal.ts'

/** The profile of another user. */
export function UserProfile({ user }: { user: User }) {
  const isHigher = useRankRefusal(user)
  const refusal = useRefusal()('users.update') ?? isHigher
  return (
    <>
      {refusal && (
        <Alert color="yellow" mb="md">
          {refusal}
        </Alert>
      )}
      <ProfileForm
        key={user._id}
        profile={user}
        call="users.update"
        unless={isHigher}
        save={changes => rollcall.users.update(user._id, changes)}
      />
    </>
  )
}
