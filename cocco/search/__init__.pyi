from cocco.search.genetic.toolbox import toolbox as toolbox
