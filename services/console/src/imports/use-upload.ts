import type { ImportUpload } from '@rollcall/sdk'
import { skipToken, useIsMutating, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { offer } from '../kit/offer-toast.tsx'
import { useReports } from '../kit/problem.ts'
import type { ImportStep } from './draft.ts'

const UPLOAD = ['imports', 'upload']

/** What is done with an uploaded file. Returns the step at which its import goes on. */
export type OnUploaded = (upload: ImportUpload, fileName: string) => Promise<ImportStep>

/**
 * Uploads a file and goes to the next step of its import. An upload goes on when people leave the screen: then it takes
 * nobody away from another one, but offers the way back once it is done.
 */
export function useUpload(onUploaded: OnUploaded): {
  start: (file: File) => void
  /** A file is being uploaded, maybe since an earlier visit. */
  isBusy: boolean
  /** What part of it is sent. */
  share: number
  error: Error | null
} {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { failed } = useReports()
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  const isBusy = useIsMutating({ mutationKey: UPLOAD }) > 0
  const { data: share = 0 } = useQuery<number>({ queryKey: [...UPLOAD, 'share'], queryFn: skipToken })
  const { mutate, error } = useMutation({
    mutationKey: UPLOAD,
    mutationFn: async (file: File) => {
      const onProgress = (sent: number) => client.setQueryData([...UPLOAD, 'share'], sent)
      onProgress(0)
      return onUploaded(await rollcall.imports.upload(file, { onProgress }), file.name)
    },
    onSuccess: (step, { name }) => {
      const goOn = () => void navigate({ to: '/imports/new', search: { step } })
      if (isHere.current) return goOn()
      offer({ done: t('imports.upload.done', { name }), action: t('imports.upload.goOn'), run: goOn, autoClose: false })
    },
    onError: error => {
      if (!isHere.current) failed(error)
    },
  })
  return { start: mutate, isBusy, share, error }
}
