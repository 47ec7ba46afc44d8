/** What a new template begins with: it has the link that every campaign needs. */
export const STARTER = `<p>Hello {{ contact.name }},</p>

<p></p>

<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>
`
