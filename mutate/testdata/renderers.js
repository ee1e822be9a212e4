// Renders Markdown with three renderers. stdin: a JSON list of texts; stdout: a JSON list
// of {name: HTML}. The first argument is the folder that has node_modules.
const load = name => require(require.resolve(name, { paths: [process.argv[2]] }))
const commonmark = load('commonmark')
const { marked } = load('marked')
const parser = new commonmark.Parser()
const writer = new commonmark.HtmlRenderer()
const it = load('markdown-it')({ html: true }).use(load('markdown-it-footnote'))
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'))
process.stdout.write(JSON.stringify(texts.map(text => ({
  'commonmark.js': writer.render(parser.parse(text)),
  'markdown-it': it.render(text),
  marked: marked.parse(text),
}))))
