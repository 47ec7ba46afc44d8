import { Skeleton } from '@mantine/core'
import { useEffect, useState } from 'react'
import classes from './qr-code.module.css'

const SIZE = 184

/** A QR code, dark on light in both schemes, since cameras read it best so. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [image, setImage] = useState('')
  useEffect(() => {
    let isCurrent = true
    void import('qrcode')
      .then(({ default: qrcode }) => qrcode.toString(text, { type: 'svg', margin: 0 }))
      .then(svg => isCurrent && setImage(`data:image/svg+xml,${encodeURIComponent(svg)}`))
    return () => {
      isCurrent = false
    }
  }, [text])
  if (!image) return <Skeleton width={SIZE} height={SIZE} className={classes.code} />
  return <img className={classes.code} src={image} alt={label} width={SIZE} height={SIZE} />
}
