import '@fontsource-variable/inter/wght.css'
import '@mantine/core/styles.layer.css'
import '@mantine/dropzone/styles.layer.css'
import '@mantine/notifications/styles.layer.css'
import './global.css'
import { MantineProvider } from '@mantine/core'
import { ModalsProvider } from '@mantine/modals'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api.ts'
import { startTranslation } from './i18n/index.ts'
import { router } from './router.tsx'
import { reloadForRelease } from './shell/old-release.ts'
import { watchRefusals } from './shell/watch-refusals.ts'
import { theme, variables } from './theme.ts'

window.addEventListener('vite:preloadError', () => reloadForRelease(window))

const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
setNonce(nonce) // for the scroll lock of overlays

watchRefusals()
void start()

/** Not awaited at the top level: the texts are in files that wait for this one. */
async function start(): Promise<void> {
  await startTranslation()
  createRoot(document.querySelector('#root')!).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <MantineProvider
          theme={theme}
          cssVariablesResolver={variables}
          defaultColorScheme="auto"
          getStyleNonce={() => nonce}
        >
          <ModalsProvider modalProps={{ closeOnClickOutside: true }}>
            <Notifications position="bottom-right" />
            <RouterProvider router={router} />
          </ModalsProvider>
        </MantineProvider>
      </QueryClientProvider>
    </StrictMode>,
  )
}
