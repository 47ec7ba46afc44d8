import type { CreatedWebhook } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { SecretOnce } from '../kit/secret-once.tsx'
import { RECEIVER } from './receiver.ts'

/** Shows the signing secret of an endpoint, once. */
export function SigningSecret({ webhook: { secret }, onClose }: { webhook: CreatedWebhook; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <SecretOnce
      secret={secret}
      title={t('webhooks.signing.title')}
      text={t('webhooks.signing.text')}
      what={t('webhooks.signing.what')}
      variable="WEBHOOK_SECRET"
      examples={[{ title: t('webhooks.signing.example'), code: RECEIVER }]}
      onClose={onClose}
    />
  )
}
