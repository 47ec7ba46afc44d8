import { useEffect, useRef } from 'react'
import classes from './mail-frame.module.css'

/**
 * Shows the HTML of a mail in a page of its own, which the gateway serves: its styles do not meet the console's, and
 * nothing in it runs or leads anywhere.
 */
export function MailFrame({ html, title }: { html: string; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  // Its origin is opaque, so no other target can be named.
  const show = () => frame.current?.contentWindow?.postMessage({ mail: html }, '*')
  useEffect(() => void frame.current?.contentWindow?.postMessage({ mail: html }, '*'), [html])
  return (
    <iframe
      ref={frame}
      className={classes.frame}
      src="/console/mail-frame.html"
      sandbox="allow-scripts"
      title={title}
      onLoad={show}
    />
  )
}
