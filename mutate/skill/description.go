package skill

// locateDescription finds the description's value, see DescriptionSpan.
func (f *frontmatter) locateDescription(raw []byte) {}
