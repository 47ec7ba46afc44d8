import { DownloadIcon } from '@primer/octicons-react'
import type { CallName } from '@rollcall/sdk'
import { type ReactNode, useState } from 'react'
import { Action } from './action.tsx'
import { useReports } from './problem.ts'
import { saveFile } from './save-file.ts'

/** Downloads a file of the API. */
export function ExportButton({
  call,
  download,
  name,
  children,
}: {
  call: CallName
  download: () => Promise<Response>
  /** Name of the file. */
  name: string
  children: ReactNode
}) {
  const { failed } = useReports()
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      saveFile(await (await download()).blob(), name)
    } catch (error) {
      failed(error)
    }
    setBusy(false)
  }
  return (
    <Action call={call} variant="default" leftSection={<DownloadIcon />} loading={isBusy} onClick={() => void run()}>
      {children}
    </Action>
  )
}
