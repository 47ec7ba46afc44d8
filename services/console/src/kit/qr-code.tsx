import { Skeleton } from '@mantine/core'
import { useEffect, useState } from 'react'
import classes from './qr-code.module.css'

const SIZE = 184
const FILE_PIXELS = 1024

/** A QR code, dark on light in both schemes, since cameras read it best so. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [image, setImage] = useState('')
  useEffect(() => {
    let isCurrent = true
    void qrSvg(text, 0).then(svg => isCurrent && setImage(`data:image/svg+xml,${encodeURIComponent(svg)}`))
    return () => {
      isCurrent = false
    }
  }, [text])
  if (!image) return <Skeleton width={SIZE} height={SIZE} className={classes.code} />
  return <img className={classes.code} src={image} alt={label} width={SIZE} height={SIZE} />
}

/** Returns a QR code as a file, for print. */
export async function qrFile(text: string, kind: 'svg' | 'png'): Promise<Blob> {
  if (kind === 'svg') return new Blob([await qrSvg(text, QUIET_ZONE)], { type: 'image/svg+xml' })
  const { default: qrcode } = await import('qrcode')
  const canvas = document.createElement('canvas')
  await qrcode.toCanvas(canvas, text, { width: FILE_PIXELS, margin: QUIET_ZONE })
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('the browser made no image'))), 'image/png'),
  )
}

/** Light modules around a code that is not on a page of its own, as ISO/IEC 18004 asks. */
const QUIET_ZONE = 4

async function qrSvg(text: string, margin: number): Promise<string> {
  const { default: qrcode } = await import('qrcode')
  return qrcode.toString(text, { type: 'svg', margin })
}
