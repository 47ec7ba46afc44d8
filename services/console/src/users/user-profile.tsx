import { Alert } from '@mantine/core'
import type { User } from '@rollcall/sdk'
import { ProfileForm } from '../account/profile.tsx'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'

/** The profile of another user. */
export function UserProfile({ user }: { user: User }) {
  const refusal = useRefusal()('users.update')
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
        save={changes => rollcall.users.update(user._id, changes)}
      />
    </>
  )
}
