import classes from './code-block.module.css'
import { CopyIconButton } from './copyable.tsx'

/** Text as it stands, such as a body or source code, with a button that copies it. */
export function CodeBlock({ text, what }: { text: string; what: string }) {
  return (
    <div className={classes.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls by the keyboard */}
      <pre className={classes.code} tabIndex={0}>
        {text}
      </pre>
      <div className={classes.copy}>
        <CopyIconButton value={text} what={what} />
      </div>
    </div>
  )
}
