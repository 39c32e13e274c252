"""The gwas room: genotype counts from PLINK files, and private screening of many SNPs."""
