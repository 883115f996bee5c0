"""How documents are laid out on pages: their pages as pictures, their paragraphs, their cells."""
